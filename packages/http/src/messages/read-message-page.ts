import type { MessageId } from '@parley/domain/kernel';
import type { GetMessagesInput, MessageList, PresentMessages } from '@parley/domain/messages';
import { WireText } from '../kernel/reply.js';
import type { Turns } from '../kernel/turns.js';
import { presentMessagePage } from './message.presenters.js';
import type { MessagePagePresenter, PageForm } from './message-page.js';

/** How many messages a read looks at that continues a page. */
const CONTINUED_IDS = 500;

interface PageReader<C> {
  readonly useCase: { execute: <T>(caller: C, input: GetMessagesInput, present: PresentMessages<T>) => Promise<T> };
  readonly caller: C;
  /** What the rest of a long page has to say again to be allowed; absent: nothing. */
  readonly always?: GetMessagesInput['narrow'];
  readonly page: MessagePagePresenter;
  readonly form: PageForm;
  /** Of all pages that are continued. */
  readonly turns: Turns;
}

/**
 * The fields of messages §5.3. Which messages they are is settled by one read; of a page too long to be held in memory, the
 * messages beyond the first part are read as its reader takes it, each as it is by then. What somebody has deleted or
 * hidden from the reader meanwhile is left out.
 */
export async function readMessagePage<C>(reader: PageReader<C>, input: GetMessagesInput): Promise<WireText> {
  const { list, chunks, remaining, nextStep } = await readPart(reader, input);
  const start = [`${presentMessagePage(list)}[`, ...chunks];
  if (remaining.length === 0) return new WireText([...start, ']']);
  return new WireText(start, continuePage(reader, remaining, nextStep, chunks.length > 0, list.highlight));
}

async function* continuePage<C>(
  reader: PageReader<C>,
  remaining: readonly MessageId[],
  firstStep: number,
  hasBegun: boolean,
  highlight: MessageList['highlight'],
): AsyncGenerator<readonly string[]> {
  const open = [remaining];
  let isFirst = !hasBegun;
  let step = firstStep;
  for (let ids = open.shift(); ids; ids = open.shift()) {
    // That they belong to the page is settled: of no narrow in particular.
    const input = { narrow: reader.always ?? [], select: { ids: ids.slice(0, CONTINUED_IDS) } };
    const part = await reader.turns.run(() => readPart(reader, input, step, highlight));
    step = part.nextStep;
    if (part.chunks.length > 0) {
      yield isFirst ? part.chunks : [',', ...part.chunks];
      isFirst = false;
    }
    if (ids.length > CONTINUED_IDS) open.unshift(ids.slice(CONTINUED_IDS));
    if (part.remaining.length > 0) open.unshift(part.remaining);
  }
  yield [']'];
}

function readPart<C>(
  { useCase, caller, page, form }: PageReader<C>,
  input: GetMessagesInput,
  firstStep?: number,
  highlight?: MessageList['highlight'],
): Promise<{
  readonly list: MessageList;
  readonly chunks: readonly string[];
  /** Messages that are still to be read. */
  readonly remaining: readonly MessageId[];
  readonly nextStep: number;
}> {
  return useCase.execute(caller, input, async (list, hydrate, listTexts) => {
    const { chunks, count, nextStep } = await page.present(
      highlight ? { ...list, highlight } : list,
      { hydrate, listTexts },
      form,
      firstStep,
    );
    return { list, chunks, remaining: list.entries.slice(count).map((entry) => entry.id), nextStep };
  });
}
