"""WsgiDAV over a folder, for everybody to write: `dav.py PORT FOLDER PREFIX`."""

import sys

from cheroot.wsgi import Server
from wsgidav.wsgidav_app import WsgiDAVApp

port, folder, prefix = int(sys.argv[1]), sys.argv[2], sys.argv[3]
application = WsgiDAVApp(
    {
        "provider_mapping": {"/": folder},
        "simple_dc": {"user_mapping": {"*": True}},
        "mount_path": prefix or None,
        "verbose": 0,
    }
)


def mounted(environ, start_response):
    """The folder below its prefix; anything else is not found."""
    path_info = environ["PATH_INFO"]
    if not path_info.startswith(f"{prefix}/"):
        start_response("404 Not Found", [])
        return [b"outside of the folder\n"]
    environ["SCRIPT_NAME"], environ["PATH_INFO"] = prefix, path_info[len(prefix) :]
    return application(environ, start_response)


Server(("127.0.0.1", port), mounted).start()
