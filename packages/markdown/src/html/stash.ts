import { CLOSE_PLACEHOLDER, OPEN_PLACEHOLDER } from '../characters.js';

const PLACEHOLDER = new RegExp(`${OPEN_PLACEHOLDER}h(\\d+)${CLOSE_PLACEHOLDER}`, 'g');
const WHOLE_PLACEHOLDER = new RegExp(`^${PLACEHOLDER.source}$`);

/** How much HTML may still be written: few placeholders may stand for very much of it. */
export interface Room {
  /** @throws DomainError UNRENDERABLE_CONTENT when there is not so much. */
  take(length: number): void;
}

interface Entry {
  readonly placeholder: string;
  readonly html: () => string;
  /** What was typed for it, which stands where HTML cannot: in attributes. */
  readonly typed: string;
}

/** HTML that the renderer made itself, and the placeholders that stand for it in text until the very end. */
export class HtmlStash {
  private readonly entries: Entry[] = [];
  private byHtml: Map<string, Entry> | undefined;

  /** The same HTML has the same placeholder, so that rendering twice adds nothing. */
  add(html: string, typed: string): string {
    this.byHtml ??= new Map();
    let entry = this.byHtml.get(html);
    if (!entry) {
      entry = this.push(() => html, typed);
      this.byHtml.set(html, entry);
    }
    return entry.placeholder;
  }

  /** HTML that is known only when it is written, of what is a block of its own. */
  addLater(html: () => string): string {
    return this.push(html, '').placeholder;
  }

  /** Whether a text is nothing but a placeholder. */
  isPlaceholder(text: string): boolean {
    return WHOLE_PLACEHOLDER.test(text);
  }

  fillIn(text: string, room: Room): string {
    if (!text.includes(OPEN_PLACEHOLDER)) return text;
    return text.replace(PLACEHOLDER, (_, index) => {
      const html = this.entries[Number(index)]!.html();
      room.take(html.length);
      return html;
    });
  }

  /** The text as it was typed. */
  restore(text: string): string {
    if (!text.includes(OPEN_PLACEHOLDER)) return text;
    return text.replace(PLACEHOLDER, (_, index) => this.entries[Number(index)]!.typed);
  }

  private push(html: () => string, typed: string): Entry {
    const entry = { placeholder: `${OPEN_PLACEHOLDER}h${this.entries.length}${CLOSE_PLACEHOLDER}`, html, typed };
    this.entries.push(entry);
    return entry;
  }
}
