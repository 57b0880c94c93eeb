# SPDX-License-Identifier: Apache-2.0
"""Conan 2: `conan create packaging/conan`, of the checkout that it is in.

The libraries it is built from are the system's, as their pkg-config files name
them: Conan Center has no Lua 5.1 with a bit library.
"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rm
from conan.tools.system.package_manager import Apt


class Holdfast(ConanFile):
    name = "holdfast"
    license = "Apache-2.0"
    description = "Locks, values, hashes and scripts on an embedded store or Redis"
    topics = ("lock", "lease", "redis", "embedded")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "serve": [True, False],
               "command": [True, False], "probes": [True, False],
               "postgres": [True, False]}
    default_options = {"shared": True, "serve": True, "command": False,
                       "probes": False, "postgres": False}

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._root, "include", "holdfast",
                                         "base.h"))
        self.version = ".".join(
            re.findall(r"#define HF_VERSION_[A-Z]+ (\d+)", header))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "NOTICE", "cli/*",
                        "cmake/*", "include/*", "scripts/*", "src/*",
                        "tools/*.py"):
            copy(self, pattern, self._root, self.export_sources_folder)

    def configure(self):
        for setting in ("compiler.cppstd", "compiler.libcxx"):
            self.settings.rm_safe(setting)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Holdfast is for Linux")
        if self.options.command and not self.options.shared:
            raise ConanInvalidConfiguration(
                "command=True needs shared=True: the command is linked with "
                "the shared libraries")

        if self.options.postgres and not self.options.shared:
            raise ConanInvalidConfiguration(
                "postgres=True needs shared=True: the module is found next to "
                "the shared library")

    def system_requirements(self):
        packages = ["liblmdb-dev", "liblua5.1-0-dev", "lua-bitop-dev",
                    "libssl-dev", "pkgconf"]
        if self.options.probes:
            packages.append("systemtap-sdt-dev")
        if self.options.postgres:
            packages.append("libpq-dev")
        if self.options.command:
            packages.append("libncurses-dev")
        if self.options.command and self.options.serve:
            packages.append("libmicrohttpd-dev")
        Apt(self).install(packages, check=True)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["HF_TESTS"] = False
        toolchain.cache_variables["HF_INSTALL"] = True
        toolchain.cache_variables["HF_SERVE"] = bool(self.options.serve)
        toolchain.cache_variables["HF_COMMAND"] = bool(self.options.command)
        toolchain.cache_variables["HF_PROBES"] = (
            "ON" if self.options.probes else "OFF")
        toolchain.cache_variables["HF_POSTGRES"] = (
            "ON" if self.options.postgres else "OFF")
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        # One kind: the generators know a library by its name alone.
        rm(self, "*.a" if self.options.shared else "*.so*",
           os.path.join(self.package_folder, "lib"))
        for name in ("LICENSE", "NOTICE"):
            copy(self, name, self.source_folder,
                 os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        shared = bool(self.options.shared)
        kinds = {"holdfast": ("holdfast", "holdfast::holdfast" if shared else
                              "holdfast::holdfast_static")}
        if self.options.serve:
            kinds["serve"] = ("holdfast-serve", "holdfast::serve" if shared
                              else "holdfast::serve_static")
        for name, (library, target) in kinds.items():
            component = self.cpp_info.components[name]
            component.set_property("cmake_target_name", target)
            component.libs = [library]
            if name == "serve":
                component.set_property("pkg_config_name", "holdfast-serve")
                component.requires = ["holdfast"]
                continue
            component.set_property("pkg_config_name", "holdfast")
            if not shared:
                component.system_libs = ["lmdb", "lua5.1-bitop", "lua5.1",
                                         "ssl", "crypto", "pthread", "m"]
