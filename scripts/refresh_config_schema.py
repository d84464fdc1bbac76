"""How is docs/almanac.schema.json kept current? Writes it from the table of keys in bot/landing/repo_config/keys.py."""

from pathlib import Path

from bot.landing.repo_config.options import json_schema

if __name__ == "__main__":
    Path(__file__).parent.parent.joinpath("docs", "almanac.schema.json").write_text(json_schema(), "utf-8")
