import { isLosslessNumber } from 'lossless-json';

type Members = Readonly<Record<string, unknown>>;

export const isScalar = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || isLosslessNumber(value);

/** Returns the text of any JSON value: of a rich-text document, a list or an object. Empty if it contains no text. */
export function flattened(value: unknown): string {
  if (isScalar(value)) return String(value);
  if (typeof value !== 'object' || value === null) return '';
  if (Array.isArray(value)) return joined(value.map(flattened), value.every(isScalar) ? ', ' : '\n');
  const members = value as Members;
  if (isNode(members)) return nodeText(members);
  // People of Atlassian and Microsoft.
  if (typeof members.displayName === 'string') return members.displayName;
  return joined(
    Object.entries(members).map(([name, member]) => {
      const text = flattened(member);
      return text === '' ? '' : `${name}: ${text}`;
    }),
    '\n',
  );
}

const joined = (texts: readonly string[], separator: string): string =>
  texts.filter((text) => text !== '').join(separator);

/** True for a node of a tree such as the Atlassian Document Format. */
const isNode = ({ type, text, content }: Members): boolean =>
  typeof type === 'string' && (typeof text === 'string' || Array.isArray(content));

/** Separators between the children of nodes; a line break for other nodes. */
const SEPARATORS: ReadonlyMap<unknown, string> = new Map([
  ['doc', '\n\n'],
  ['tableRow', ' | '],
  ...['paragraph', 'heading', 'codeBlock', 'taskItem', 'decisionItem', 'caption'].map((type) => [type, ''] as const),
]);
const BULLETS: readonly unknown[] = ['listItem', 'taskItem', 'decisionItem'];

function nodeText({ type, text, content, attrs, marks }: Members): string {
  if (typeof text === 'string') return `${text}${addressOf(text, marks)}`;
  const own = leafText(type, Object(attrs)) || flattened(text);
  if (!Array.isArray(content)) return own || `(${type})`;
  const children = content.map((child) =>
    typeof Object(child).type === 'string' ? nodeText(child) : flattened(child),
  );
  const all = joined([own, joined(children, SEPARATORS.get(type) ?? '\n')], '\n');
  return BULLETS.includes(type) ? `* ${all}` : all;
}

/** Returns the address behind a linked text in parentheses, unless the text is the address. */
function addressOf(text: string, marks: unknown): string {
  const all = Array.isArray(marks) ? marks.map((mark) => flattened(Object(Object(mark).attrs).href)) : [];
  const href = all.find((each) => each !== '') ?? text;
  return href === text ? '' : ` (${href})`;
}

/** Returns the text in the attributes of a node, such as a mention, emoji, card, date or picture. */
function leafText(type: unknown, attrs: Members): string {
  if (type === 'hardBreak') return '\n';
  const time = new Date(Number(attrs.timestamp));
  if (type === 'date' && !Number.isNaN(time.valueOf())) return time.toISOString().slice(0, 10);
  return flattened(attrs.text ?? attrs.shortName ?? attrs.url ?? attrs.alt ?? attrs.title);
}
