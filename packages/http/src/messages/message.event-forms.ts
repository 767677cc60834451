import { form, formWithout } from '../events/event-forms.js';
import * as wire from '../kernel/wire-schema.js';
import { flags, receivedMessage, SUBMESSAGE, topicLinks } from './message.answers.js';
import { PROPAGATE_MODES } from './message.presenters.js';

/** Messages §18.1. */
export const SENT = form('message', {
  message: receivedMessage,
  flags,
  local_message_id: wire.optional(wire.text()),
});

/** Messages §18.6. */
export const SUBMESSAGE_ADDED = form('submessage', { submessage_id: wire.integer(), ...SUBMESSAGE });

const CHANGED = {
  user_id: wire.nullable(wire.integer()),
  message_id: wire.integer(),
  message_ids: wire.listOf(wire.integer()),
  flags,
  edit_timestamp: wire.integer(),
};

/** Messages §18.2: what is of a move, and what of a text. */
export const UPDATED = form('update_message', {
  rendering_only: wire.oneOf(false),
  ...CHANGED,
  ...wire.optionalFields({
    stream_id: wire.integer(),
    stream_name: wire.text(),
    new_stream_id: wire.integer(),
    propagate_mode: wire.oneOf(...Object.values(PROPAGATE_MODES)),
    orig_subject: wire.text(),
    subject: wire.text(),
    topic_links: topicLinks,
    orig_content: wire.text(),
    orig_rendered_content: wire.text(),
    content: wire.text(),
    rendered_content: wire.text(),
    is_me_message: wire.boolean(),
  }),
});

export const RERENDERED = form('update_message', {
  rendering_only: wire.oneOf(true),
  ...CHANGED,
  content: wire.text(),
  rendered_content: wire.text(),
});

const IN_CHANNEL = { message_type: wire.oneOf('stream'), stream_id: wire.integer(), topic: wire.text() };
const DIRECT = { message_type: wire.oneOf('private') };

/** Clients without it get an event for each message. */
export const BULK_DELETION = 'bulk_message_deletion';

/** Messages §18.3. */
export const DELETED = [IN_CHANNEL, DIRECT].flatMap((where) => [
  form('delete_message', { message_ids: wire.listOf(wire.integer()), ...where }),
  formWithout(BULK_DELETION, 'delete_message', { message_id: wire.integer(), ...where }),
]);

const MENTIONED = { mentioned: wire.optional(wire.oneOf(true)) };

/** Events §7.1. */
export const FLAG_CHANGED = ['add', 'remove'].map((op) =>
  form('update_message_flags', {
    op: wire.oneOf(op),
    operation: wire.oneOf(op),
    flag: wire.text(),
    messages: wire.listOf(wire.integer()),
    all: wire.boolean(),
    ...(op === 'remove' && {
      message_details: wire.optional(
        wire.dictionaryOf(
          wire.anyOf(
            wire.fields({
              type: wire.oneOf('stream'),
              stream_id: wire.integer(),
              topic: wire.text(),
              unmuted_stream_msg: wire.boolean(),
              ...MENTIONED,
            }),
            wire.fields({ type: wire.oneOf('private'), user_ids: wire.listOf(wire.integer()), ...MENTIONED }),
          ),
        ),
      ),
    }),
  }),
);
