"""Are import statements of many languages recognised, and lookalikes ignored?"""

from __future__ import annotations

import pytest

from bot.metrics.imports import import_lines, imported_names, syntax_by_language

_READ = [
    ("Python", "import os.path, numpy as np", ["os.path", "numpy"]),
    ("Python", "from torch.nn import (", ["torch.nn"]),
    ("Cython", "cimport numpy as cnp", ["numpy"]),
    ("JavaScript", "const a = require('left-pad')", ["left-pad"]),
    ("JavaScript", "import '@scope/pkg/style.css'", ["@scope/pkg/style.css"]),
    ("TypeScript", "import type { A } from 'zod'", ["zod"]),
    ("TypeScript", "} from 'node:fs'", ["node:fs"]),
    ("TSX", "const Page = lazy(() => import('next/dynamic'))", ["next/dynamic"]),
    ("Vue", "  import { ref } from 'vue'", ["vue"]),
    ("Svelte", 'import { onMount } from "svelte"', ["svelte"]),
    ("Go", '\tmetav1 "k8s.io/apimachinery/pkg/apis/meta/v1"', ["k8s.io/apimachinery/pkg/apis/meta/v1"]),
    ("Go", 'import "testing"', ["testing"]),
    ("Rust", "pub(crate) use tokio::sync::mpsc;", ["tokio::sync::mpsc"]),
    ("Rust", "extern crate serde;", ["serde"]),
    ("Java", "import static org.junit.Assert.assertEquals;", ["org.junit.Assert.assertEquals"]),
    ("Kotlin", "import kotlinx.coroutines.flow.Flow", ["kotlinx.coroutines.flow.Flow"]),
    ("Scala", "import org.apache.spark.sql.{DataFrame, Row}", ["org.apache.spark.sql."]),
    ("Groovy", "import groovy.transform.CompileStatic", ["groovy.transform.CompileStatic"]),
    ("C", "# include <openssl/ssl.h>", ["openssl/ssl.h"]),
    ("C++", '#include "gtest/gtest.h"', ["gtest/gtest.h"]),
    ("Objective-C", "@import UIKit;", ["UIKit"]),
    ("Cuda", "#include <cuda_runtime.h>", ["cuda_runtime.h"]),
    ("C#", "using static System.Math;", ["System.Math"]),
    ("C#", "using Json = Newtonsoft.Json.JsonConvert;", ["Newtonsoft.Json.JsonConvert"]),
    ("F#", "open System.IO", ["System.IO"]),
    ("Visual Basic .NET", "Imports System.Linq", ["System.Linq"]),
    ("Swift", "@testable import Vapor", ["Vapor"]),
    ("Ruby", "require 'sinatra/base'", ["sinatra/base"]),
    ("PHP", "use function Symfony\\Component\\String\\u;", ["Symfony\\Component\\String\\u"]),
    ("Perl", "use Moose::Role;", ["Moose::Role"]),
    ("R", "library(dplyr)", ["dplyr"]),
    ("R", "x <- ggplot2::ggplot(d)", ["ggplot2"]),
    ("Julia", "using DataFrames, Flux", ["DataFrames", "Flux"]),
    ("Haskell", "import qualified Data.Map as M", ["Data.Map"]),
    ("PureScript", "import Effect.Console (log)", ["Effect.Console"]),
    ("Elixir", "  use Phoenix.Controller", ["Phoenix.Controller"]),
    ("Erlang", '-include_lib("eunit/include/eunit.hrl").', ["eunit"]),
    ("Erlang", "-behaviour(gen_server).", ["gen_server"]),
    ("Clojure", "  (:require [ring.util.response :as response]", ["ring.util.response"]),
    ("Dart", "import 'package:flutter/material.dart';", ["flutter"]),
    ("Lua", 'local t = require("telescope.builtin")', ["telescope.builtin"]),
    ("OCaml", "open Lwt.Infix", ["Lwt.Infix"]),
    ("Nim", "import std/strutils, jester", ["std/strutils", "jester"]),
    ("D", "private import vibe.http.server;", ["vibe.http.server"]),
    ("Zig", 'const c = @cImport(@cInclude("sqlite3.h"));', ["sqlite3.h"]),
    ("Elm", "import Html.Events exposing (onClick)", ["Html.Events"]),
    ("Solidity", 'import {A} from "@openzeppelin/contracts/A.sol";', ["@openzeppelin/contracts/A.sol"]),
    ("PowerShell", "Import-Module -Name Pester", ["Pester"]),
    ("Tcl", "package require Tk", ["Tk"]),
    ("Fortran", "use, intrinsic :: iso_c_binding", ["iso_c_binding"]),
    ("QML", "import QtQuick 2.15", ["QtQuick"]),
    ("Protocol Buffer", 'import "google/protobuf/any.proto";', ["google/protobuf/any.proto"]),
    ("Starlark", 'load("@rules_go//go:def.bzl", "go_library")', ["@rules_go//go"]),
    ("SCSS", "@use '@angular/material' as mat;", ["@angular/material"]),
    ("Jupyter Notebook", "import pandas as pd", ["pandas"]),
]  # fmt: skip

_NOT_READ = [
    ("Python", "from .models import User"),
    ("Python", "important = 1"),
    ("JavaScript", "// import x from 'x'"),
    ("JavaScript", "import a from './a'"),
    ("Go", 'fmt.Println("github.com/acme/x")'),
    ("C", '/* #include "a.h" */'),
    ("C#", "using (var file = Open())"),
    ("C#", "using var op = new Operator();"),
    ("Rust", "use_it();"),
    ("Dart", "import 'src/test.dart';"),
    ("Ruby", "require_relative 'sinatra'"),
    ("Perl", "use strict;"),
    ("Java", "important.call();"),
    ("Lua", '-- require("lapis")'),
]


def _names(language: str, line: str) -> list[str]:
    syntax = syntax_by_language()[language]
    return [name for found in import_lines([line], line, syntax) for name in imported_names(found, syntax)]


@pytest.mark.parametrize(("language", "line", "names"), _READ)
def test_an_import_statement_is_read(language: str, line: str, names: list[str]) -> None:
    assert _names(language, line) == names


@pytest.mark.parametrize(("language", "line"), _NOT_READ)
def test_text_that_only_looks_like_an_import_is_ignored(language: str, line: str) -> None:
    assert _names(language, line) == []


def test_twenty_languages_and_more_are_read() -> None:
    assert len({language for language, _, _ in _READ}) >= 40


def test_a_line_is_found_once_though_several_needles_are_in_it() -> None:
    lines = ["import a from 'vue'; // from require", "x", "const b = require('pinia')"]
    syntax = syntax_by_language()["JavaScript"]
    found = list(import_lines(lines, "\n".join(lines), syntax))
    assert sorted(found) == sorted([lines[0], lines[2]])


def test_only_lines_that_begin_with_no_blank_where_asked() -> None:
    lines = ["import torch", "    import jax"]
    assert list(import_lines(lines, "\n".join(lines), syntax_by_language()["Python"], flush=True)) == ["import torch"]
