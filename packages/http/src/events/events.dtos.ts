import { MAX_TEXT_LENGTH, MAX_TOKEN_LENGTH } from '../kernel/limits.js';
import {
  anyOf,
  boolean,
  integer,
  json,
  listOf,
  nullable,
  object,
  oneOf,
  optional,
  type ParamType,
  refine,
  text,
} from '../kernel/param-types.js';
import {
  BooleanParam,
  IntegerParam,
  NullableBooleanParam,
  NullableIntegerParam,
  param,
  TextParam,
  WordParam,
} from '../kernel/params.js';

const MAX_EVENT_TYPES = 100;
const MAX_NARROW_TERMS = 100;

/** What is kept with a queue: with the names of the terms' members, a filter takes no more than 8 kB. */
const MAX_EVENT_TYPES_BYTES = 3000;
const MAX_NARROW_BYTES = 2500;

const limitedTo = <T>(bytes: number, type: ParamType<T>): ParamType<T> =>
  refine(type, (value) =>
    Buffer.byteLength(JSON.stringify(value)) > bytes ? `{p} is too long (limit: ${bytes} bytes)` : undefined,
  );

const EventTypesParam = () =>
  param(nullable(limitedTo(MAX_EVENT_TYPES_BYTES, listOf(text({ max: MAX_TOKEN_LENGTH }), { max: MAX_EVENT_TYPES }))), {
    optional: true,
  });

/** `[["channel", "denmark"], ["topic", "lunch"]]`. */
const NarrowPairsParam = () =>
  param(
    limitedTo(
      MAX_NARROW_BYTES,
      listOf(listOf(text({ max: MAX_TEXT_LENGTH }), { length: 2 }), { max: MAX_NARROW_TERMS }),
    ),
    { optional: true },
  );

/** What a client can do, by the names of events §2. What it does not say it cannot; unknown names are ignored. */
const CapabilitiesParam = () =>
  param(
    object(
      {
        notification_settings_null: boolean(),
        ...Object.fromEntries(OPTIONAL_CAPABILITIES.map((name) => [name, optional(boolean())])),
      },
      { open: true },
    ),
    { optional: true },
  );

const OPTIONAL_CAPABILITIES = [
  'bulk_message_deletion',
  'user_avatar_url_field_optional',
  'stream_typing_notifications',
  'user_settings_object',
  'linkifier_url_template',
  'user_list_incomplete',
  'include_deactivated_groups',
  'archived_channels',
  'empty_topic_name',
  'simplified_presence_events',
  'individual_emoji_changes',
] as const;

/** Minutes are enough for a browser, hours for a telephone that sleeps: JSON, quotes and all (events §1). */
const IdleTimeoutParam = () => param(anyOf([integer(), json(oneOf('mobile'))]), { optional: true });

export class RegisterDto {
  @NullableBooleanParam({ aliases: ['client_extavatar'] }) client_gravatar: boolean | null = null;
  @BooleanParam() apply_markdown = false;
  @BooleanParam() slim_presence = false;
  @NullableIntegerParam() presence_history_limit_days: number | null = null;
  @BooleanParam({ optional: true }) all_public_streams?: boolean;
  @WordParam(['true', 'false', 'partial']) include_subscribers: 'true' | 'false' | 'partial' = 'false';
  @CapabilitiesParam() client_capabilities?: Readonly<Record<string, boolean | undefined>>;
  @EventTypesParam() event_types?: readonly string[] | null;
  @EventTypesParam() fetch_event_types?: readonly string[] | null;
  @NarrowPairsParam() narrow?: readonly (readonly [string, string])[];
  @IdleTimeoutParam() idle_queue_timeout?: number | 'mobile';
}

/** A poll; without `queue_id` but with `dont_block`, a registration in the old way (events §6.4). */
export class PollEventsDto {
  @TextParam({ max: MAX_TOKEN_LENGTH, optional: true }) queue_id?: string;
  @IntegerParam({ optional: true }) last_event_id?: number;
  @BooleanParam() dont_block = false;
  @EventTypesParam() event_types?: readonly string[] | null;
  @NarrowPairsParam() narrow?: readonly (readonly [string, string])[];
  @BooleanParam({ optional: true }) all_public_streams?: boolean;
  @BooleanParam() apply_markdown = false;
  @NullableBooleanParam({ aliases: ['client_extavatar'] }) client_gravatar: boolean | null = null;
  @BooleanParam() slim_presence = false;
}

export class RemoveQueueDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) queue_id!: string;
}
