"""Who writes a text: nobody but the template, or a language model that receives facts alone."""

from bot.services.writer.interface import NO_WRITER, NoWriter, Writer, WriterError

__all__ = ["NO_WRITER", "NoWriter", "Writer", "WriterError"]
