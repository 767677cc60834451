import type { WorkBudget } from '../budgets.js';
import { isSpace } from '../characters.js';
import { Element } from '../html/html.js';
import type { InlineContext, InlineRule } from './rule.js';

/** Opening run of stars with the text after it. */
class Opening {
  private readonly pieces: string[] = [];
  private first = '';
  private last = '';
  private isBroken = false;

  constructor(public stars: number) {}

  add(piece: string): void {
    if (piece === '') return;
    if (this.first === '') this.first = piece[0]!;
    this.last = piece[piece.length - 1]!;
    this.isBroken ||= piece.includes('\n') || piece.includes('^');
    this.pieces.push(piece);
  }

  /** True if the text after it is valid content: one line without a caret or surrounding white space. */
  get canHold(): boolean {
    return this.first !== '' && !this.isBroken && !isSpace(this.first) && !isSpace(this.last);
  }

  /** Removes and returns the content. */
  take(): string {
    const inside = this.pieces.join('');
    this.pieces.length = 0;
    this.first = '';
    this.last = '';
    return inside;
  }
}

/**
 * Replaces content between runs of a given number of stars. Unmatched stars may match after inner content is
 * replaced, so open runs are kept on a stack. Runs in linear time.
 */
export function replaceBetweenStars(
  text: string,
  width: number,
  work: WorkBudget,
  replace: (inside: string) => string,
): string {
  const before = new Opening(0);
  const open: Opening[] = [before];
  let done = 0;
  for (let start = text.indexOf('*'); start !== -1; start = text.indexOf('*', done)) {
    open.at(-1)!.add(text.slice(done, start));
    done = start + 1;
    while (text[done] === '*') done++;
    let stars = done - start;
    work.spend(1);
    for (let opening = open.at(-1)!; stars >= width && opening.stars >= width && opening.canHold; ) {
      const inside = opening.take();
      work.spend(inside.length);
      const replaced = replace(inside);
      opening.stars -= width;
      stars -= width;
      if (opening.stars === 0) {
        open.pop();
        opening = open.at(-1)!;
      }
      opening.add(replaced);
    }
    if (stars > 0) open.push(new Opening(stars));
  }
  open.at(-1)!.add(text.slice(done));
  return open.map((opening) => '*'.repeat(opening.stars) + opening.take()).join('');
}

const STRONG = /\*\*([^\n]+?)\*\*/g;
const DELETED = /(?<!~)~~([^~\n]+)~~(?!~)/g;

export const strongEmphasis: InlineRule = (text, context) => {
  if (!text.includes('***')) return text;
  return replaceBetweenStars(text, 3, context.work, (inside) => {
    const strong = new Element('strong');
    strong.append('em').text = context.formatInside(inside);
    return context.stash(strong);
  });
};

export const strong: InlineRule = (text, context) =>
  text.includes('**') ? text.replace(STRONG, (_, inside) => stashElement('strong', inside, context)) : text;

export const emphasis: InlineRule = (text, context) =>
  text.includes('*')
    ? replaceBetweenStars(text, 1, context.work, (inside) => stashElement('em', inside, context))
    : text;

export const deleted: InlineRule = (text, context) =>
  text.includes('~~') ? text.replace(DELETED, (_, inside) => stashElement('del', inside, context)) : text;

function stashElement(tag: string, inside: string, context: InlineContext): string {
  const element = new Element(tag);
  element.text = context.formatInside(inside);
  return context.stash(element);
}
