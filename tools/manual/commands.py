# SPDX-License-Identifier: Apache-2.0
"""Pages of sections 1 and 7, from what `holdfast help --json` prints."""

import roff

TASKS = {"locks": "Locks", "data": "Data", "server": "Server",
         "maintenance": "Maintenance"}
DURATIONS = ("SEC is a number of seconds, or has a unit: "
             "250ms, 10s, 5m, 1h, 1d.")


def capital(text):
    return text[0].upper() + text[1:]


def put_blocks(page, blocks, codes, heading):
    for block in blocks:
        text = block["text"]
        if block["kind"] == "item":
            page.item(block["term"], capital(text))
        elif block["kind"] == "heading":
            heading(text)
        elif block["kind"] == "verbatim":
            page.verbatim(text)
        elif text == "%codes%":
            put_codes(page, codes)
        else:
            page.paragraph(text)


def put_codes(page, codes):
    for code in codes:
        page.item(str(code["code"]), capital(code["text"]) + ".")


def spelling(option):
    argument = " " + option["argument"] if option["argument"] else ""
    words = [f"-{letter}{argument}" for letter in option["letters"] or ""]
    words += [f"--{name}{argument}" for name in option["names"]]
    return ", ".join(words)


def put_options(page, options):
    for option in options:
        page.item(spelling(option), capital(option["help"]) + ".")
    if any(option["duration"] for option in options):
        page.paragraph(DURATIONS)


def put_usage(page, name, operands):
    operands = f" {operands}" if operands else ""
    page.rows([roff.bold("holdfast " + name) +
               roff.literal(f" [OPTION...]{operands}")])


def own_options(command, common):
    """Without those of every command."""
    names = {name for option in common for name in option["names"]}
    return [option for option in command["options"]
            if option["names"][0] not in names]


def put_command(page, command, common, own_page):
    """In a page of its own, or as a part of that of its noun."""
    part = page.heading if own_page else page.subheading
    if not own_page:
        page.heading(command["name"])
        put_usage(page, command["name"], command["operands"])
        page.paragraph(capital(command["summary"]) + ".")
        page.verbatim(command["example"])
    elif command["notes"]:
        page.heading("DESCRIPTION")
    put_blocks(page, command["notes"], [], part)
    options = own_options(command, common)
    if options:
        part("OPTIONS" if own_page else "Options")
        put_options(page, options)
    if command["json"]:
        part("JSON" if own_page else "JSON")
        page.paragraph("--json prints " + command["json"] + ".")
    part("EXIT STATUS" if own_page else "Exit status")
    put_codes(page, command["exit_codes"])


def see_also(page, names):
    page.heading("SEE ALSO")
    rows = [f"{roff.bold(name)}({section})," for name, section in names]
    page.rows([*rows[:-1], rows[-1].rstrip(",")])


def noun_page(noun, manual, date):
    name = "holdfast-" + noun["name"]
    page = roff.Page(name, 1, noun["summary"], manual["version"], date)
    single = noun["commands"][0]["name"] == noun["name"]
    page.heading("EXAMPLE")
    page.verbatim(noun["example"])
    page.heading("SYNOPSIS")
    for at, command in enumerate(noun["commands"]):
        if at > 0:
            page.rows([".br"])
        put_usage(page, command["name"], command["operands"])
    for command in noun["commands"]:
        put_command(page, command, manual["options"], single)
    page.heading("OPTIONS OF EVERY COMMAND")
    put_options(page, [option for option in manual["options"]
                       if option["names"][0] != "version"])
    see_also(page, [("holdfast", 1), ("holdfast-environment", 7),
                    ("holdfast-exit-codes", 7), ("holdfast-stores", 7)])
    return page


def topic_page(topic, manual, date):
    page = roff.Page("holdfast-" + topic["name"], 7, topic["title"],
                     manual["version"], date)
    page.heading("EXAMPLE")
    page.verbatim(topic["example"])
    page.heading("DESCRIPTION")
    put_blocks(page, topic["text"], manual["exit_codes"],
               lambda text: page.heading(text.upper()))
    see_also(page, [("holdfast", 1)] +
             [("holdfast-" + other["name"], 7) for other in manual["topics"]
              if other is not topic])
    return page


def main_page(manual, date):
    page = roff.Page("holdfast", 1, "locks and data that programs share",
                     manual["version"], date)
    page.heading("EXAMPLE")
    page.verbatim("$ holdfast run -n nightly -- backup.sh")
    page.heading("SYNOPSIS")
    page.rows([roff.bold("holdfast") + roff.literal(
        " [--store URL|NAME] COMMAND [OPTION...] [ARGUMENT...]"), ".br",
        roff.bold("holdfast help") + " [COMMAND|TOPIC]"])
    page.heading("COMMANDS")
    for task, title in TASKS.items():
        page.subheading(title)
        for noun in manual["nouns"]:
            if noun["task"] == task:
                page.item("holdfast " + noun["name"],
                          capital(noun["summary"]) + ".")
    page.heading("OPTIONS")
    page.paragraph("Options may come before, between and after the arguments; "
                   "`--` ends them. These are options of every command:")
    put_options(page, manual["options"])
    page.heading("FILES")
    page.item("/etc/holdfast.conf, ~/.config/holdfast/config",
              "Named stores, one NAME = URL on each line.")
    page.heading("EXIT STATUS")
    put_codes(page, manual["exit_codes"])
    see_also(page, [("holdfast-" + noun["name"], 1)
                    for noun in sorted(manual["nouns"],
                                       key=lambda noun: noun["name"])] +
             [("holdfast", 3)] +
             [("holdfast-" + topic["name"], 7) for topic in manual["topics"]])
    return page


def write(manual, date, folder):
    main_page(manual, date).write(folder)
    for noun in manual["nouns"]:
        noun_page(noun, manual, date).write(folder)
    for topic in manual["topics"]:
        topic_page(topic, manual, date).write(folder)
