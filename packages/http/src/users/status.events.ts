import type { StatusEventTypes } from '@parley/domain/users';
import { form } from '../events/event-forms.js';
import { opened, type Presenters } from '../events/event-presenter.js';
import { variantByKey } from '../kernel/client-variant.js';
import * as wire from '../kernel/wire-schema.js';
import { STATUS } from './status.answers.js';
import { presentStatusChange } from './status.presenters.js';

export const STATUS_EVENTS = {
  'user.status_changed': {
    forms: [form('user_status', { user_id: wire.integer(), ...STATUS })],
    present: ({ userId, change }, context) => {
      const client = variantByKey(context.presentation.client);
      return context.shared(change.emoji?.type === 'extra' ? client.extraEmojiType : '', () =>
        opened({ type: 'user_status', user_id: userId, ...presentStatusChange(change, client) }),
      );
    },
  },
} satisfies Presenters<keyof StatusEventTypes>;
