import { isSpace } from '../characters.js';
import type { WorkBudget } from '../work-budget.js';

/** A run of stars that may open something, and what stands behind it. */
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

  /** Whether what stands behind could be inside: on one line, without a caret, with white space at neither end. */
  get canHold(): boolean {
    return this.first !== '' && !this.isBroken && !isSpace(this.first) && !isSpace(this.last);
  }

  /** What stands behind it, which is as if it had never been there. */
  take(): string {
    const inside = this.pieces.join('');
    this.pieces.length = 0;
    this.first = '';
    this.last = '';
    return inside;
  }
}

/**
 * Replaces what stands between so many stars and the next as many. Stars that find no partner may find one once what
 * stands between has been replaced, so those still open are kept, innermost last. Nothing is looked at twice.
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
