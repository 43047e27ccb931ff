"""Makes a page: a template, its styles, its scripts and its data in one file. The door to HTML.

Templates of this room lie beside this file, those of `tournaments` in its own `pages` folder; all
extend `base.html.j2` and are escaped by Jinja2. A strict content-security policy lets the page run
and load nothing but what stands in it: no style attributes, no handlers in attributes.
"""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

HERE = Path(__file__).parent
"""Where the templates, styles and scripts of this room lie."""
POLICY = (
    "default-src 'none'; style-src {styles}; script-src {scripts}; img-src data:; connect-src {to};"
    " base-uri 'none'; form-action 'none'"
)


def page(
    template: str,
    kind: str,
    title: str,
    *,
    folders: Sequence[Path] = (),
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    data: object = None,
    connect: str = "'none'",
    links: Sequence[tuple[str, str]] = (),
    **values: Any,
) -> str:
    """The page as HTML.

    `kind` says what sort of page it is and `title` of what; `links` are addresses of other pages
    and what they are called. `template`, `styles` and `scripts` are names of files in `folders` or
    in this room. `data` is what the scripts find, as JSON, in the element `data`; `connect` is
    where they may connect to.
    """
    environment = _environment((*folders, HERE))
    style = _joined(environment, ("base.css", *styles))
    script = _joined(environment, scripts)
    policy = POLICY.format(styles=_hash(style), scripts=_hash(script), to=connect)
    return environment.get_template(template).render(
        style=Markup(style),
        script=Markup(script),
        policy=policy,
        data=_data(data),
        kind=kind,
        title=title,
        links=links,
        **values,
    )


@cache
def _environment(folders: tuple[Path, ...]) -> Environment:
    return Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _joined(environment: Environment, names: Sequence[str]) -> str:
    """Files one after another, as they are: they are no templates."""
    assert environment.loader
    return "".join(environment.loader.get_source(environment, name)[0] for name in names)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data(data: object) -> Markup:
    """JSON that cannot end the element in which it stands."""
    json = msgspec.json.encode(data).decode()
    return Markup(json.replace("<", "\\u003c"))
