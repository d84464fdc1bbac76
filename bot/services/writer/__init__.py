"""Who writes a text: only the template, or also a language model that receives only facts?"""

from bot.services.writer.interface import NO_WRITER, NoWriter, Writer, WriterError

__all__ = ["NO_WRITER", "NoWriter", "Writer", "WriterError"]
