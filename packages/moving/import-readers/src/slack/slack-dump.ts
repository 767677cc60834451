import { field, listOf, textOf } from '../fields.js';
import { type JsonElement, jsonMember } from '../json-elements.js';

/** Name of a file in slackdump's dump folder: the channel, and the time of the thread if it contains only one. */
const DUMP = /^([CDG](?=[A-Z]*\d)[A-Z0-9]{7,})(?:-\d{9,11}\.\d{6})?\.json$/;

/** Member of a message with its replies. */
const REPLIES = 'slackdump_thread_replies';

export const isDumpFile = (name: string): boolean => DUMP.test(name);

/** Returns the files of dumped conversations by channel; those of whole channels first. */
export function dumpFiles(names: readonly string[]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const name of [...names].sort((a, b) => a.length - b.length)) {
    const channel = DUMP.exec(name)?.[1];
    if (channel === undefined) continue;
    const found = files.get(channel);
    if (found) found.push(name);
    else files.set(channel, [name]);
  }
  return files;
}

export const isDirectDump = (channel: string): boolean => channel.startsWith('D');

/**
 * Streams the messages of a dumped conversation, each followed by its replies. `onName` receives the name of the channel.
 * @throws DomainError INVALID_IMPORT
 */
export async function* dumpMessages(
  chunks: AsyncIterable<Buffer>,
  file: string,
  onName: (name: string) => void,
): AsyncGenerator<JsonElement> {
  let isFirst = true;
  for await (const element of jsonMember(chunks, 'messages', file)) {
    if ('damage' in element) yield element;
    // The first element is the conversation without its messages.
    else if (isFirst) onName(textOf(element.value, 'name'));
    else yield* withReplies(element);
    isFirst = false;
  }
}

function* withReplies(element: JsonElement): Generator<JsonElement> {
  if ('damage' in element || field(element.value, REPLIES) === undefined) {
    yield element;
    return;
  }
  const { line, size, value } = element;
  const { [REPLIES]: _, ...message } = value as Readonly<Record<string, unknown>>;
  yield { line, size, value: message };
  for (const reply of listOf(value, REPLIES)) yield { line, size, value: reply };
}
