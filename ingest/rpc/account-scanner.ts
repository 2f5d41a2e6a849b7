// Takes the accounts out of a JSON answer while it arrives, so that hundreds of megabytes never stand in memory at once.

/** The array of accounts in `getProgramAccounts` and `getProgramAccountsV2`. */
const ARRAY = /"(?:value|accounts)"\s*:\s*\[/;
/** An answer that does not begin its array within so many characters is parsed as a whole: an error, for example. */
const HEAD_CHARACTERS_MAX = 1024 * 1024;
const [QUOTE, BACKSLASH, OPEN, CLOSE, END] = ['"', '\\', '{', '}', ']'].map((one) => one.charCodeAt(0));

export class AccountScanner {
  readonly #take: (element: unknown) => void;
  #state: 'head' | 'elements' | 'tail' = 'head';
  /** Text of the envelope without the elements. */
  #envelope = '';
  /** Text that is not consumed yet. */
  #text = '';
  #at = 0;
  /** Begin of the current element in `text`; -1 between two elements. */
  #from = -1;
  #depth = 0;
  #isString = false;

  /** `take` receives each element of the array, parsed. */
  constructor(take: (element: unknown) => void) {
    this.#take = take;
  }

  /** Adds the next part of the text. Throws SyntaxError for an element that is no JSON. */
  write(part: string): void {
    if (this.#state === 'tail') {
      this.#envelope += part;
      return;
    }
    this.#text += part;
    if (this.#state === 'head' && !this.#findArray()) return;
    this.#elements();
  }

  /** The answer without its elements. Throws SyntaxError when the text ended early. */
  end(): unknown {
    if (this.#state === 'elements') throw new SyntaxError('the answer ended among the accounts');
    return JSON.parse(this.#state === 'head' ? this.#text : this.#envelope);
  }

  #findArray(): boolean {
    const found = this.#text.length <= HEAD_CHARACTERS_MAX ? ARRAY.exec(this.#text) : null;
    if (!found) return false;
    const end = found.index + found[0].length;
    this.#envelope = this.#text.slice(0, end);
    this.#text = this.#text.slice(end);
    this.#state = 'elements';
    return true;
  }

  #elements(): void {
    const text = this.#text;
    let at = this.#at;
    for (; at < text.length; at++) {
      if (this.#isString) {
        at = text.indexOf('"', at);
        if (at < 0) at = text.length;
        else this.#isString = isEscaped(text, at);
        continue;
      }
      const code = text.charCodeAt(at);
      if (code === QUOTE) this.#isString = true;
      else if (code === OPEN) {
        if (this.#depth === 0) this.#from = at;
        this.#depth += 1;
      } else if (code === CLOSE) {
        this.#depth -= 1;
        if (this.#depth > 0) continue;
        this.#take(JSON.parse(text.slice(this.#from, at + 1)));
        this.#from = -1;
      } else if (code === END && this.#depth === 0) {
        this.#envelope += text.slice(at);
        this.#state = 'tail';
        this.#text = '';
        return;
      }
    }
    const keptFrom = this.#from < 0 ? text.length : this.#from;
    this.#text = text.slice(keptFrom);
    this.#at = text.length - keptFrom;
    if (this.#from >= 0) this.#from = 0;
  }
}

/** Whether a backslash precedes the quote that is itself not escaped. */
function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
  return slashes % 2 === 1;
}
