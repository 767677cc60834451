import type { ChannelId, MessageId, RecipientId } from '@parley/domain/kernel';
import type { UnreadRow } from './unread.js';
import { UnreadCollection } from './unread-ranges.js';

const COLUMNS = 7;

const rowOf = (id: number, recipientId: number, channelId: number | null, topic = ''): UnreadRow => {
  const columns = Array.from({ length: COLUMNS }, () => 0);
  columns.splice(0, 3, id, 0, recipientId);
  return [...columns, channelId as ChannelId | null, topic] as unknown as UnreadRow;
};

describe('UnreadCollection', () => {
  it('groups rows in any order by conversation, with ascending ids and the oldest conversation first', () => {
    const found = new UnreadCollection();
    found.addRows([rowOf(9, 1, 5, 'Tea'), rowOf(3, 2, null), rowOf(7, 1, 5, 'tea'), rowOf(8, 1, 5, 'coffee')]);
    found.addRows([rowOf(2, 1, 5, 'TEA')]);
    expect(found.groups()).toEqual([
      { recipientId: 1 as RecipientId, channelId: 5, ids: [2, 7, 9] },
      { recipientId: 2 as RecipientId, channelId: null, ids: [3] },
      { recipientId: 1 as RecipientId, channelId: 5, ids: [8] },
    ]);
  });

  it('sorts a conversation once for any number of its rows', () => {
    const found = new UnreadCollection();
    const rows = Array.from({ length: 1000 }, (_, index) => rowOf(1000 - index, 1, null));
    const sort = jest.spyOn(Array.prototype, 'sort');
    found.addRows(rows);
    expect(sort).toHaveBeenCalledTimes(1);
    sort.mockRestore();
    expect(found.has(1000 as MessageId)).toBe(true);
  });
});
