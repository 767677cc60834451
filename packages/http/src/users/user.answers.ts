import * as wire from '../kernel/wire-schema.js';

export const ROLE = wire.oneOf(100, 200, 300, 400, 600);

/** Users §1.1. */
const USER = {
  user_id: wire.integer(),
  delivery_email: wire.nullable(wire.text()),
  email: wire.text(),
  full_name: wire.text(),
  date_joined: wire.text(),
  is_active: wire.optional(wire.boolean()),
  is_deleted: wire.optional(wire.boolean()),
  is_owner: wire.boolean(),
  is_admin: wire.boolean(),
  is_guest: wire.boolean(),
  is_bot: wire.boolean(),
  role: ROLE,
  timezone: wire.text(),
  avatar_url: wire.nullable(wire.text()),
  avatar_version: wire.integer(),
  is_imported_stub: wire.boolean(),
  bot_type: wire.optional(wire.nullable(wire.integer())),
  bot_owner_id: wire.optional(wire.nullable(wire.integer())),
  is_system_bot: wire.optional(wire.boolean()),
  profile_data: wire.optional(
    wire.dictionaryOf(wire.fields({ value: wire.text(), rendered_value: wire.optional(wire.text()) })),
  ),
};

export const user = wire.named('User', wire.fields(USER));

export const ONE_USER = wire.fields({ user });
/** Users §1.1: their newest message beside what others see. */
export const OWN_USER = wire.fields({ ...USER, max_message_id: wire.integer() });
export const USERS = wire.fields({ members: wire.listOf(user) });

/** Of those who have not logged in (events §1): without a time zone. */
export const shownUser = wire.named('ShownUser', wire.fields({ ...USER, timezone: wire.optional(USER.timezone) }));
export const SHOWN_USERS = wire.fields({ members: wire.listOf(shownUser) });

/** Protocol §8.1. */
export const API_KEY = wire.fields({ api_key: wire.text(), email: wire.text(), user_id: wire.integer() });

/** Protocol §8.2. */
export const KEY_OF_TOKEN = wire.fields({
  api_key: wire.text(),
  email: wire.text(),
  user: wire.optional(user),
});
