import type { Caller, MessageId } from '@parley/domain/kernel';
import type { Highlight, MatchNarrow, MatchNarrowInput } from '@parley/domain/messages';
import { WireText } from '../kernel/reply.js';
import type { Turns } from '../kernel/turns.js';
import { highlightText } from './message.presenters.js';
import { MAX_MARKED } from './message-page.js';

/** So many messages are fetched at once. */
const STEP = 20;
interface MatchReader {
  readonly useCase: MatchNarrow;
  readonly caller: Caller;
  /** Of all answers that are continued. */
  readonly turns: Turns;
}

/** `messages` of messages §8. Which they are is settled by one read; a long answer is made as it is read. */
export async function readNarrowMatches(reader: MatchReader, input: MatchNarrowInput): Promise<WireText> {
  const { text, remaining, highlight } = await readPart(reader, input);
  if (remaining.length === 0) return new WireText(`"messages":{${text}}`);
  return new WireText(`"messages":{${text}`, continueMatches(reader, remaining, text !== '', highlight));
}

async function* continueMatches(
  reader: MatchReader,
  remaining: readonly MessageId[],
  hasBegun: boolean,
  highlight: Highlight,
): AsyncGenerator<readonly string[]> {
  let isFirst = !hasBegun;
  for (let ids = remaining; ids.length > 0; ) {
    // That they match is settled: of no narrow in particular.
    const part = await reader.turns.run(() => readPart(reader, { ids, narrow: [] }, highlight));
    if (part.text !== '') yield isFirst ? [part.text] : [',', part.text];
    isFirst &&= part.text === '';
    ids = part.remaining;
  }
  yield ['}'];
}

function readPart(
  { useCase, caller }: MatchReader,
  input: MatchNarrowInput,
  highlight?: Highlight,
): Promise<{ readonly text: string; readonly remaining: readonly MessageId[]; readonly highlight: Highlight }> {
  return useCase.execute(caller, input, async (matches, listTexts) => {
    const mark = highlight ?? matches.highlight;
    const texts: string[] = [];
    let marked = 0;
    let count = 0;
    while (count < matches.ids.length && marked < MAX_MARKED) {
      for (const message of await listTexts(matches.ids.slice(count, count + STEP))) {
        if (marked >= MAX_MARKED) break;
        texts.push(`"${message.id}":{${highlightText(mark(message))}}`);
        marked += message.renderedContent.length;
        count++;
      }
    }
    return { text: texts.join(','), remaining: matches.ids.slice(count), highlight: mark };
  });
}
