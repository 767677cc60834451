/** Of a list, made text at a time: about four milliseconds' work where they are people. */
const MEMBERS_AT_A_TIME = 100;

/**
 * JSON of a dictionary some members of which are long lists, piece by piece, so that others can do something in between. What lists hold
 * may be made when its turn comes.
 */
export function* jsonPieces(members: Readonly<Record<string, unknown>>): Generator<Buffer> {
  let before = '{';
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    const start = `${before}${JSON.stringify(name)}:`;
    if (isList(value)) yield* listPieces(start, value);
    else yield Buffer.from(start + JSON.stringify(value));
    before = ',';
  }
  yield Buffer.from(before === '{' ? '{}' : '}');
}

function* listPieces(start: string, list: Iterable<unknown>): Generator<Buffer> {
  let text = `${start}[`;
  let count = 0;
  for (const member of list) {
    if (count > 0) text += ',';
    text += JSON.stringify(member) ?? 'null';
    if (++count % MEMBERS_AT_A_TIME !== 0) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(`${text}]`);
}

const isList = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value;

/** Another list, each member of which is made when its turn comes. */
export function mapped<T, R>(list: readonly T[], map: (member: T) => R): Iterable<R> {
  return {
    *[Symbol.iterator]() {
      for (const member of list) yield map(member);
    },
  };
}
