"""Who orders the entries of a digest: the ranking, or a language model that receives only entries?"""

from bot.services.writer.interface import NO_WRITER, NoWriter, Writer, WriterError

__all__ = ["NO_WRITER", "NoWriter", "Writer", "WriterError"]
