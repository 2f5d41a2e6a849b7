// Rows of a CSV body while it arrives (RFC 4180): quoted fields may hold commas, quotes and line breaks.

/** Yields each row as a map from the names of the first line. Values are text: integers stay exact. */
export async function* csvRows(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<Record<string, string>, void, undefined> {
  let names: readonly string[] | null = null;
  for await (const fields of csvLines(body)) {
    if (names === null) names = fields;
    else yield Object.fromEntries(names.map((name, index) => [name, fields[index] ?? '']));
  }
}

async function* csvLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string[], void, undefined> {
  const parser = new CsvParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      yield* parser.feed(done ? decoder.decode() : decoder.decode(value, { stream: true }));
      if (done) break;
    }
    yield* parser.end();
  } finally {
    // An iteration that stops early ends the download.
    await reader.cancel().catch(() => {});
  }
}

class CsvParser {
  #fields: string[] = [];
  #field = '';
  #isQuoted = false;
  /** A quote inside a quoted field: the next character says whether the field ends. */
  #isAfterQuote = false;

  *feed(text: string): Generator<string[], void, undefined> {
    for (const character of text) {
      if (this.#isQuoted && !this.#isAfterQuote) {
        if (character === '"') this.#isAfterQuote = true;
        else this.#field += character;
        continue;
      }
      if (this.#isAfterQuote) {
        this.#isAfterQuote = false;
        if (character === '"') {
          this.#field += '"';
          continue;
        }
        this.#isQuoted = false;
      }
      if (character === '"' && this.#field === '') this.#isQuoted = true;
      else if (character === ',') this.#endField();
      else if (character === '\n') yield this.#endLine();
      else if (character !== '\r') this.#field += character;
    }
  }

  /** The last line, when it has no line break. */
  *end(): Generator<string[], void, undefined> {
    if (this.#field !== '' || this.#fields.length > 0) yield this.#endLine();
  }

  #endField(): void {
    this.#fields.push(this.#field);
    this.#field = '';
  }

  #endLine(): string[] {
    this.#endField();
    const fields = this.#fields;
    this.#fields = [];
    return fields;
  }
}
