# Imported before the snapshot, so that no session pays for them.
import sys

sys.settrace(None)
import _ast_unparse, abc, argparse, array, ast, asyncio, base64, binascii, bisect, calendar, cmath, collections, collections.abc
import colorsys, configparser, contextlib, contextvars, copy, csv, dataclasses, datetime, decimal, difflib, email.utils
import enum, fnmatch, fractions, functools, glob, graphlib, gzip, hashlib, heapq, hmac, html, html.parser, inspect, io
import ipaddress, itertools, json, keyword, linecache, logging, math, numbers, operator, os, os.path, pathlib, pickle
import pprint, queue, random, re, reprlib, secrets, shlex, shutil, sqlite3, statistics, string, struct, tempfile
import textwrap, threading, time, token, tokenize, tomllib, traceback, types, typing, unicodedata, urllib.parse, uuid
import warnings, weakref, xml.etree.ElementTree, zipfile, zlib, zoneinfo
