"""The HTML pages: each joins a template, its styles, scripts and data into one file.

The templates of `arena` are beside this file, those of `tournaments` in folders called `html`; all
extend `base.html.j2` and are escaped by Jinja2. A strict content-security policy lets the page run
and load only what the file contains: no style attributes and no handlers in attributes.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup

from protocol import __version__
from protocol.codec import encode_json

if TYPE_CHECKING:
    from jinja2 import Environment


# --- pages ---


UI_FOLDER = Path(__file__).parent
"""The folder of the templates, styles and scripts of `arena`."""
SOURCES = (".css", ".j2", ".js", ".py", ".svg")
"""The files here from which pages follow, besides the games."""
TABLE_SCRIPTS = ("emblem.js", "tiles.js", "line.js", "motion.js", "table.js")
"""The scripts that draw a table."""
POLICY = (
    "default-src 'none'; style-src {styles}; script-src {scripts}; img-src {images};"
    " connect-src {to}; base-uri 'none'; form-action 'none'"
)
LOCAL_SCRIPTS = "'self' file:"
"""Scripts beside a page; `file:` because some browsers need it for a page opened as a file."""
COMMENT = re.compile(r"^ *(/\*.*?\*/|//.*?)\n", re.MULTILINE | re.DOTALL)
"""A comment on lines of its own, in a style sheet or a script."""
STYLE, THEME, SCRIPT_FILE = "style.css", "theme.js", "script.js"
"""The files that the pages of a site share."""


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
    loads_scripts: bool = False,
    links: Sequence[tuple[str, str]] = (),
    **values: Any,
) -> str:
    """Return the page as HTML.

    `kind` names the sort of page and `title` its subject; `links` are addresses of other pages and
    their labels. `template`, `styles` and `scripts` are names of files in `folders` or beside this
    file. `data` is written as JSON into the element `data`, where the scripts read it; `connect`
    is the address to which the scripts may connect. A page that `loads_scripts` may load those that
    lie beside it too.
    """
    environment = _environment(folders)
    style = _joined(environment, ("base.css", *styles))
    theme, script = _joined(environment, (THEME,)), _joined(environment, scripts)
    allowed = f"{_hash(theme)} {_hash(script)}{f' {LOCAL_SCRIPTS}' * loads_scripts}"
    policy = POLICY.format(styles=_hash(style), scripts=allowed, images="data:", to=connect)
    return environment.get_template(template).render(
        **_signs(environment),
        theme=Markup(theme),
        style=Markup(style),
        script=Markup(script),
        policy=policy,
        data=_data(data),
        kind=kind,
        title=title,
        links=links,
        **values,
    )


class SitePages:
    """The pages of one site: many small ones, which share a style sheet and scripts beside them."""

    def __init__(
        self, folders: Sequence[Path], styles: Sequence[str], scripts: Sequence[str]
    ) -> None:
        self._environment = environment = _environment(folders)
        self._signs = _signs(environment)
        self.files = {
            STYLE: _joined(environment, ("base.css", *styles)),
            THEME: _joined(environment, (THEME,)),
            SCRIPT_FILE: _joined(environment, scripts),
        }
        """The content of the shared files, by name."""

    def page(self, template: str, kind: str, title: str, *, root: str, **values: Any) -> str:
        """Return a page as HTML; `root` leads from its folder to that of the shared files."""
        site = "'self'"
        return self.render(
            template,
            **self._signs,
            policy=POLICY.format(styles=site, scripts=site, images=f"{site} data:", to="'none'"),
            kind=kind,
            title=title,
            root=root,
            **values,
        )

    def render(self, template: str, **values: Any) -> str:
        """Return another file of the site, such as a picture."""
        return self._environment.get_template(template).render(**values)


def _environment(folders: Sequence[Path]) -> "Environment":
    from arena.ui.templates import environment  # Jinja2 takes 40 ms.

    return environment((*folders, UI_FOLDER))


def _signs(environment: "Environment") -> dict[str, str]:
    logo = _joined(environment, ("logo.svg",)).strip()
    icon = f"data:image/svg+xml,{quote(logo)}"
    return {"logo": Markup(logo), "icon": icon, "generator": generator()}


@cache
def generator() -> str:
    """Return the mark of this version in its pages: others make other pages of the same games."""
    sources = sorted(path for path in UI_FOLDER.iterdir() if path.suffix in SOURCES)
    digest = hashlib.sha256(b"".join(map(Path.read_bytes, sources))).hexdigest()
    return f"Boneyard {__version__} {digest[:12]}"


def _joined(environment: "Environment", names: Sequence[str]) -> str:
    """Return the files joined, without lines of comments: they are not templates."""
    assert environment.loader
    files = [environment.loader.get_source(environment, name)[0] for name in names]
    return COMMENT.sub("", "".join(files))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data(data: object) -> Markup:
    """Return JSON that cannot end the element that contains it."""
    return Markup(encode_json(data).decode().replace("<", "\\u003c"))
