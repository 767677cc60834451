import type { Caller, GetMessages, GetMessagesInput, MessageId, MessageList } from '@parley/domain';
import type { Turns } from '../caching/turns.js';
import { WireText } from '../routing/reply.js';
import { presentMessagePage } from './message.presenters.js';
import type { MessagePagePresenter, PageForm } from './message-page.js';

/** How many messages a read looks at that continues a page. */
const CONTINUED_IDS = 500;

interface PageReader {
  readonly useCase: GetMessages;
  readonly caller: Caller;
  readonly page: MessagePagePresenter;
  readonly form: PageForm;
  /** Of all pages that are continued. */
  readonly turns: Turns;
}

/** Messages that are still to be read, of a narrow; of none in particular once it is settled that they belong to the page. */
type Remaining = Pick<GetMessagesInput, 'narrow'> & { readonly ids: readonly MessageId[] };

/**
 * The fields of messages §5.3. Which messages they are is settled by one read; of a page too long to be held in memory, the
 * messages beyond the first part are read as its reader takes it, each as it is by then. What somebody has deleted or
 * hidden from the reader meanwhile is left out.
 */
export async function readMessagePage(reader: PageReader, input: GetMessagesInput): Promise<WireText> {
  const { list, chunks, remaining, nextStep } = await readPart(reader, input);
  const start = [`${presentMessagePage(list)}[`, ...chunks];
  if (remaining.length === 0) return new WireText([...start, ']']);
  return new WireText(start, continuePage(reader, remaining, nextStep, chunks.length > 0));
}

async function* continuePage(
  reader: PageReader,
  remaining: readonly Remaining[],
  firstStep: number,
  hasBegun: boolean,
): AsyncGenerator<readonly string[]> {
  const open = [...remaining];
  let isFirst = !hasBegun;
  let step = firstStep;
  for (let next = open.shift(); next; next = open.shift()) {
    const { narrow, ids } = next;
    const select = { ids: ids.slice(0, CONTINUED_IDS) };
    const part = await reader.turns.run(() => readPart(reader, { narrow, select }, step));
    step = part.nextStep;
    if (part.chunks.length > 0) {
      yield isFirst ? part.chunks : [',', ...part.chunks];
      isFirst = false;
    }
    if (ids.length > CONTINUED_IDS) open.unshift({ narrow, ids: ids.slice(CONTINUED_IDS) });
    open.unshift(...part.remaining);
  }
  yield [']'];
}

function readPart(
  { useCase, caller, page, form }: PageReader,
  input: GetMessagesInput,
  firstStep?: number,
): Promise<{
  readonly list: MessageList;
  readonly chunks: readonly string[];
  readonly remaining: readonly Remaining[];
  readonly nextStep: number;
}> {
  return useCase.execute(caller, input, async (list, hydrate) => {
    const { chunks, count, nextStep } = await page.present(list, hydrate, form, firstStep);
    const unread = list.heads.slice(count).map((head) => head.id);
    const remaining = [
      { narrow: [], ids: unread },
      { narrow: input.narrow, ids: list.beyond },
    ].filter(({ ids }) => ids.length > 0);
    return { list, chunks, remaining, nextStep };
  });
}
