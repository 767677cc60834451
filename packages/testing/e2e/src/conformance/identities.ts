/** Ids from here on are invented and refer to no object of a story. */
const MADE_UP_ID = 10 ** 7;
/** Anchor values for the newest message and beyond. */
const BEYOND_ALL_IDS = 10 ** 15;

/** Bidirectional mapping between recorded and local ids per kind. */
export class Identities {
  private readonly byKind = new Map<
    string,
    { readonly there: Map<number, number>; readonly back: Map<number, number> }
  >();
  private readonly pairs = new Set<string>();

  learn(kind: string, recorded: number, here: number): void {
    const { there, back } = this.of(kind);
    there.set(recorded, here);
    back.set(here, recorded);
    this.pairs.add(`${recorded}=${here}`);
  }

  /** True if both refer to the same object. Maps ids that are new on both sides. */
  areSame(kind: string, recorded: number, here: number): boolean {
    if (recorded === here && (recorded <= 0 || recorded >= MADE_UP_ID)) return true;
    if (recorded <= 0 || here <= 0 || recorded >= BEYOND_ALL_IDS) return false;
    const { there, back } = this.of(kind);
    if (there.has(recorded) || back.has(here)) return there.get(recorded) === here;
    this.learn(kind, recorded, here);
    return true;
  }

  /** True if both lists contain the same objects in any order: known ones match first, the rest in order. */
  areSameSets(kind: string, recorded: readonly number[], here: readonly number[]): boolean {
    const unknown: number[] = [];
    const left = [...here];
    for (const id of recorded) {
      const matched = this.of(kind).there.get(id);
      const at = matched === undefined ? -1 : left.indexOf(matched);
      if (at === -1) unknown.push(id);
      else left.splice(at, 1);
    }
    return unknown.every((id, index) => this.areSame(kind, id, left[index]!));
  }

  /** True if either id is known for any kind. */
  isKnown(recorded: number, here: number): boolean {
    return [...this.byKind.values()].some(({ there, back }) => there.has(recorded) || back.has(here));
  }

  /** True if the texts differ only in times and in numbers that refer to the same object. */
  areSameTexts(recorded: string, here: string): boolean {
    const [lefts, rights] = [recorded.split(/(\d+)/), here.split(/(\d+)/)];
    if (lefts.length !== rights.length) return false;
    return lefts.every((left, index) => {
      const right = rights[index]!;
      if (left === right) return true;
      const isNumber = index % 2 === 1;
      return isNumber && (this.pairs.has(`${Number(left)}=${Number(right)}`) || areTimes(Number(left), Number(right)));
    });
  }

  private of(kind: string) {
    const matched = this.byKind.get(kind);
    if (matched) return matched;
    const maps = { there: new Map<number, number>(), back: new Map<number, number>() };
    this.byKind.set(kind, maps);
    return maps;
  }
}

const areTimes = (a: number, b: number): boolean => a > 10 ** 9 && b > 10 ** 9 && b < 10 ** 11;
