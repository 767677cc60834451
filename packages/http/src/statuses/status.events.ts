import type { StatusEventTypes } from '@parley/domain/statuses';
import { opened, type Presenters } from '../events/event-presenter.js';
import { variantByKey } from '../routing/client-variant.js';
import { presentStatusChange } from './status.presenters.js';

export const STATUS_EVENTS = {
  'user.status_changed': {
    wireTypes: ['user_status'],
    present: ({ userId, change }, context) => {
      const client = variantByKey(context.presentation.client);
      return context.shared(change.emoji?.type === 'extra' ? client.extraEmojiType : '', () =>
        opened({ type: 'user_status', user_id: userId, ...presentStatusChange(change, client) }),
      );
    },
  },
} satisfies Presenters<keyof StatusEventTypes>;
