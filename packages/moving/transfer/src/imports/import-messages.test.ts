import type { AppendedCopy } from '@parley/domain/exports';
import type {
  MessageId,
  Ordinal,
  RealmId,
  RecipientId,
  Transaction,
  UnitOfWork,
  UnixSeconds,
  UserId,
} from '@parley/domain/kernel';
import type { MessageCopy, RealmSource } from '../exports/realm-copy.js';
import { ImportedIds, type TopicLinks } from './import-ids.js';
import { MessageImport } from './import-messages.js';
import { OrdinalRuns } from './ordinal-runs.js';

const REALM_ID = 1 as RealmId;
const RECIPIENT_ID = 1 as RecipientId;
const USER_ID = 1 as UserId;
const DAY = 86_400;

/** Imports messages with these times, and returns the number of messages per range of ids. */
async function rangesOf(times: readonly number[]): Promise<readonly number[]> {
  const sizes = new Map<MessageId, number>();
  const appendMessages = async (messages: readonly AppendedCopy[], first: MessageId) => {
    sizes.set(first, (sizes.get(first) ?? 0) + messages.length);
    return messages.map((_, index) => (index + 1) as Ordinal);
  };
  const tx = { copies: { appendMessages }, onRollback: () => {} } as unknown as Transaction;
  const uow = {
    write: (_: RealmId, work: (tx: Transaction) => Promise<unknown>) => work(tx),
  } as unknown as UnitOfWork;
  const copies = times.map((sentAt, index) => ({
    message: {
      ...{ id: (index + 1) as MessageId, senderId: USER_ID, recipientId: RECIPIENT_ID, channelId: null, topic: '' },
      ...{ content: '', renderedContent: '', sentAt: sentAt as UnixSeconds, topicLinks: [] },
    },
    ...{ edits: [], reactions: [], submessages: [], holders: [] },
  })) as unknown as MessageCopy[];
  const source = {
    realm: { realm: { id: REALM_ID }, conversations: [] },
    messages: async function* () {
      yield copies;
    },
  } as unknown as RealmSource;
  const ids = new ImportedIds(REALM_ID, source);
  ids.users.keep([USER_ID]);
  ids.recipients.keep([RECIPIENT_ID]);
  ids.messages.keepUpTo(times.length);
  await new MessageImport(uow, ids, source, new OrdinalRuns(), {} as TopicLinks, null).run(() => {});
  return [...sizes.values()];
}

describe('MessageImport', () => {
  it('begins a new range of ids where times go back by more than the difference of clocks', async () => {
    expect(await rangesOf([10 * DAY, 11 * DAY, 11 * DAY - 60, DAY, 2 * DAY])).toEqual([3, 2]);
  });

  it('limits the number of ranges of an archive in which times always go back', async () => {
    const ranges = await rangesOf(Array.from({ length: 1000 }, (_, index) => (2000 - index) * DAY));
    expect(ranges.length).toBe(100);
    expect(ranges.reduce((sum, size) => sum + size)).toBe(1000);
  });
});
