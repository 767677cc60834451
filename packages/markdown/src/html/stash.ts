import { MAX_HTML_LENGTH, unrenderable } from '../bounds.js';
import { CLOSE_PLACEHOLDER, OPEN_PLACEHOLDER } from '../characters.js';

const PLACEHOLDER = new RegExp(`${OPEN_PLACEHOLDER}h(\\d+)${CLOSE_PLACEHOLDER}`, 'g');
const WHOLE_PLACEHOLDER = new RegExp(`^${PLACEHOLDER.source}$`);

interface Entry {
  readonly placeholder: string;
  readonly html: string;
  readonly typed: string;
}

/** HTML of our own making that is done already, and the placeholders that stand for it in text until the very end. */
export class HtmlStash {
  private readonly entries: Entry[] = [];
  private readonly byHtml = new Map<string, Entry>();
  private length = 0;

  /**
   * The same HTML has the same placeholder, so that rendering twice adds nothing.
   * @param typed What was typed for it, which stands where HTML cannot: in attributes.
   */
  add(html: string, typed = ''): string {
    let entry = this.byHtml.get(html);
    if (!entry) {
      this.length += html.length;
      if (this.length > MAX_HTML_LENGTH) throw unrenderable();
      entry = { placeholder: `${OPEN_PLACEHOLDER}h${this.entries.length}${CLOSE_PLACEHOLDER}`, html, typed };
      this.entries.push(entry);
      this.byHtml.set(html, entry);
    }
    return entry.placeholder;
  }

  /** What stands behind a text that is nothing but a placeholder. */
  find(text: string): string | undefined {
    const match = WHOLE_PLACEHOLDER.exec(text);
    return match ? this.entries[Number(match[1])]?.html : undefined;
  }

  fillIn(text: string): string {
    if (!text.includes(OPEN_PLACEHOLDER)) return text;
    return text.replace(PLACEHOLDER, (_, index) => this.entries[Number(index)]!.html);
  }

  /** The text as it was typed. */
  restore(text: string): string {
    if (!text.includes(OPEN_PLACEHOLDER)) return text;
    return text.replace(PLACEHOLDER, (_, index) => this.entries[Number(index)]!.typed);
  }
}
