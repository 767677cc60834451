import { CHANNEL_CLOSING_ROWS, type ChannelClosing } from '@parley/domain/channels';
import { Table } from '../engine/declared-rows.js';

export const CHANNEL_CLOSING_FEATURE = {
  ...new Table<ChannelClosing>(CHANNEL_CLOSING_ROWS, {
    columns: { afterDays: 'int?', isClosed: 'flag' },
    indices: ['INDEX channel_closing_by_realm ON channel_closing (realm_id, id)'],
  }).feature(48, 'channelClosings', {}),
  notExported: { channel_closing: 'It is a rule of the application.' },
};
