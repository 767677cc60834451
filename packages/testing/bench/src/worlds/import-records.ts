import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { contentOf } from './history.js';

/** Contents of a generated file of import records. */
export interface ImportRecords {
  readonly records: number;
  readonly messages: number;
}

const SOURCE = 'bench:1';
const MESSAGES_PER_PERSON = 250;
const MESSAGES_PER_CHANNEL = 2500;
const FIRST_SECOND = 1_600_000_000;

/**
 * Writes import records of an organization: of ten messages, three are in threads and one each mentions somebody, links to
 * another message, has a reaction and was edited. A tenth of the messages is direct.
 */
export async function writeImportRecords(path: string, messages: number): Promise<ImportRecords> {
  const file = createWriteStream(path);
  let records = 0;
  let text = '';
  const write = (record: object) => {
    records++;
    text += `${JSON.stringify({ source: SOURCE, ...record })}\n`;
  };
  const people = Math.max(10, Math.floor(messages / MESSAGES_PER_PERSON));
  const channels = Math.max(5, Math.floor(messages / MESSAGES_PER_CHANNEL));
  const idsOfPeople = Array.from({ length: people }, (_, n) => `p${n}`);
  for (const id of idsOfPeople) {
    write({ kind: 'person', id, name: `Person ${id}`, email: `${id}@bench.example`, isEmailVerified: true });
  }
  for (let n = 0; n < channels; n++) {
    write({
      kind: 'channel',
      id: `c${n}`,
      name: `channel ${n}`,
      privacy: 'public',
      members: idsOfPeople.slice(0, 200),
    });
  }
  for (let n = 0; n < people; n++) {
    write({ kind: 'conversation', id: `d${n}`, members: [`p${n}`, `p${(n + 1) % people}`] });
  }
  for (let n = 0; n < messages; n++) {
    write(messageOf(n, people, channels));
    if (n % 10 === 5) write({ kind: 'reaction', id: `r${n}`, message: `m${n}`, person: `p${n % people}`, emoji: '👍' });
    if (n % 10 === 6) {
      write({ kind: 'edit', id: `e${n}`, message: `m${n}`, at: FIRST_SECOND + n + 60, previous: `Draft ${n}` });
    }
    if (text.length < 65_536) continue;
    if (!file.write(text)) await once(file, 'drain');
    text = '';
  }
  file.end(text);
  await once(file, 'close');
  return { records, messages };
}

function messageOf(n: number, people: number, channels: number): object {
  const common = { kind: 'message', id: `m${n}`, sender: `p${(n * 7) % people}`, sentAt: FIRST_SECOND + n };
  if (n % 10 === 9) return { ...common, conversation: `d${n % people}`, content: contentOf(n) };
  const inChannel = { ...common, channel: `c${Math.floor(n / 10) % channels}` };
  switch (n % 10) {
    case 1:
    case 2:
    case 3:
      return { ...inChannel, thread: `m${n - (n % 10)}`, content: contentOf(n) };
    case 7:
      return { ...inChannel, content: [contentOf(n), { mention: 'person', id: `p${n % people}` }] };
    case 8:
      return { ...inChannel, content: [contentOf(n), { link: 'message', id: `m${n - 1}` }] };
    default:
      return { ...inChannel, content: contentOf(n) };
  }
}
