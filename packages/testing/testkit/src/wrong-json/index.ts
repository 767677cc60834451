export { CARDS } from './cards.js';

/** Values of every JSON type, and the text that must be shown for each; null if there is nothing to show. */
const VALUES: readonly (readonly [value: unknown, shown: string | null])[] = [
  [null, null],
  ['', null],
  [[], null],
  [{}, null],
  ['MARKtext', 'MARKtext'],
  [12_345.5, '12345.5'],
  [-7_654_321, '-7654321'],
  [true, 'true'],
  [false, 'false'],
  [['MARKlist', 7], 'MARKlist'],
  [[['MARKnested']], 'MARKnested'],
  [{ unknown: 'MARKobject' }, 'MARKobject'],
  [{ text: 'MARKmember' }, 'MARKmember'],
  [{ 0: 'MARKindexed' }, 'MARKindexed'],
];

export interface WrongJson {
  readonly value: unknown;
  /** Names of the replaced member and its parents; indexes are left out. */
  readonly path: string;
  /** Text of the new value; null if there is nothing to show. */
  readonly shown: string | null;
}

/** Returns copies of a JSON value in which one member or element is absent, or has another value of any type. */
export function* wrongJson(value: unknown, path = ''): Generator<WrongJson> {
  if (typeof value !== 'object' || value === null) return;
  for (const name of Object.keys(value)) {
    const child: unknown = value[name as keyof typeof value];
    const place = Array.isArray(value) ? path : path === '' ? name : `${path}.${name}`;
    const replaced = (member: unknown): unknown =>
      Array.isArray(value) ? value.with(Number(name), member) : { ...value, [name]: member };
    const { [name as never]: _, ...others } = value;
    yield { value: Array.isArray(value) ? value.toSpliced(Number(name), 1) : others, path: place, shown: null };
    for (const [member, shown] of VALUES) yield { value: replaced(member), path: place, shown };
    for (const changed of wrongJson(child, place)) yield { ...changed, value: replaced(changed.value) };
  }
}
