import { EMOJI } from '../files/emoji-types.js';
import * as wire from '../kernel/wire-schema.js';

const participant = wire.named(
  'Participant',
  wire.fields({
    id: wire.integer(),
    email: wire.text(),
    full_name: wire.text(),
    is_mirror_dummy: wire.boolean(),
  }),
);

const reaction = wire.named(
  'Reaction',
  wire.fields({
    ...EMOJI,
    user_id: wire.integer(),
  }),
);

/** Messages §18.6. */
export const SUBMESSAGE = {
  message_id: wire.integer(),
  sender_id: wire.integer(),
  msg_type: wire.text(),
  content: wire.text(),
};

const submessage = wire.named('Submessage', wire.fields({ id: wire.integer(), ...SUBMESSAGE }));

/** What an edit and a step of a history have in common, where there was a move or a text before. */
const CHANGES = {
  prev_topic: wire.optional(wire.text()),
  prev_stream: wire.optional(wire.integer()),
  stream: wire.optional(wire.integer()),
  prev_content: wire.optional(wire.text()),
  prev_rendered_content: wire.optional(wire.text()),
};

const edit = wire.named(
  'MessageEdit',
  wire.fields({
    user_id: wire.nullable(wire.integer()),
    timestamp: wire.integer(),
    topic: wire.optional(wire.text()),
    ...CHANGES,
  }),
);

export const flags = wire.listOf(wire.text());

export const topicLinks = wire.listOf(wire.fields({ text: wire.text(), url: wire.text() }));

/** Messages §2. */
const MESSAGE = {
  id: wire.integer(),
  sender_id: wire.integer(),
  sender_full_name: wire.text(),
  sender_email: wire.text(),
  sender_realm_str: wire.text(),
  avatar_url: wire.nullable(wire.text()),
  client: wire.text(),
  content: wire.text(),
  content_type: wire.oneOf('text/html', 'text/x-markdown'),
  type: wire.oneOf('stream', 'private'),
  display_recipient: wire.anyOf(wire.text(), wire.listOf(participant)),
  recipient_id: wire.integer(),
  stream_id: wire.optional(wire.integer()),
  subject: wire.text(),
  topic_links: topicLinks,
  timestamp: wire.integer(),
  is_me_message: wire.boolean(),
  reactions: wire.listOf(reaction),
  submessages: wire.listOf(submessage),
  edit_history: wire.optional(wire.listOf(edit)),
  last_edit_timestamp: wire.optional(wire.integer()),
  last_moved_timestamp: wire.optional(wire.integer()),
  flags,
};

const message = wire.named('Message', wire.fields(MESSAGE));

const { flags: _, ...RECEIVED } = MESSAGE;

/** As events bring it: the flags are beside it. */
export const receivedMessage = wire.named('ReceivedMessage', wire.fields(RECEIVED));

const HIGHLIGHT = { match_content: wire.text(), match_subject: wire.text() };

/** Messages §5.3. */
export const MESSAGE_PAGE = wire.fields({
  anchor: wire.optional(wire.integer()),
  found_newest: wire.boolean(),
  found_oldest: wire.boolean(),
  found_anchor: wire.boolean(),
  history_limited: wire.boolean(),
  messages: wire.listOf(
    wire.named(
      'FoundMessage',
      wire.fields({
        ...MESSAGE,
        match_content: wire.optional(HIGHLIGHT.match_content),
        match_subject: wire.optional(HIGHLIGHT.match_subject),
      }),
    ),
  ),
});

/** Messages §6. */
export const ONE_MESSAGE = wire.fields({ message, raw_content: wire.text() });

/** Messages §3. */
export const SENT_MESSAGE = wire.fields({
  id: wire.integer(),
  automatic_new_visibility_policy: wire.optional(wire.integer()),
});

/** Messages §8. */
export const NARROW_MATCHES = wire.fields({ messages: wire.dictionaryOf(wire.fields(HIGHLIGHT)) });

/** Messages §10. */
export const MESSAGE_HISTORY = wire.fields({
  message_history: wire.listOf(
    wire.named(
      'MessageSnapshot',
      wire.fields({
        topic: wire.text(),
        content: wire.text(),
        rendered_content: wire.text(),
        timestamp: wire.integer(),
        user_id: wire.nullable(wire.integer()),
        ...CHANGES,
        content_html_diff: wire.optional(wire.text()),
      }),
    ),
  ),
});

const ignoredChannels = { ignored_because_not_subscribed_channels: wire.listOf(wire.integer()) };

/** Messages §13.1. */
export const CHANGED_FLAGS = wire.fields({ messages: wire.listOf(wire.integer()), ...ignoredChannels });

/** Messages §13.2. */
export const CHANGED_NARROW = wire.fields({
  processed_count: wire.integer(),
  updated_count: wire.integer(),
  first_processed_id: wire.nullable(wire.integer()),
  last_processed_id: wire.nullable(wire.integer()),
  found_oldest: wire.boolean(),
  found_newest: wire.boolean(),
  ...ignoredChannels,
});

const unread = { unread_message_ids: wire.listOf(wire.integer()) };

/** Events §4.4. */
export const unreadMessages = wire.named(
  'UnreadMessages',
  wire.fields({
    count: wire.integer(),
    pms: wire.listOf(wire.fields({ other_user_id: wire.integer(), sender_id: wire.integer(), ...unread })),
    streams: wire.listOf(wire.fields({ stream_id: wire.integer(), topic: wire.text(), ...unread })),
    huddles: wire.listOf(wire.fields({ user_ids_string: wire.text(), ...unread })),
    mentions: wire.listOf(wire.integer()),
    old_unreads_missing: wire.boolean(),
  }),
);

/** Events §3.2. */
export const recentConversation = wire.named(
  'RecentConversation',
  wire.fields({ user_ids: wire.listOf(wire.integer()), max_message_id: wire.integer() }),
);
