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
  refine,
  text,
} from '../routing/param-types.js';
import {
  BooleanParam,
  IntegerParam,
  NullableBooleanParam,
  NullableIntegerParam,
  param,
  TextParam,
  WordParam,
} from '../routing/params.js';

const NullableTextListParam = () => param(nullable(listOf(text())), { optional: true });

/** `[["channel", "denmark"], ["topic", "lunch"]]`. */
const NarrowPairsParam = () =>
  param(listOf(refine(listOf(text()), (pair) => (pair.length === 2 ? undefined : '{p} should have exactly 2 items'))), {
    optional: true,
  });

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
  @NullableTextListParam() event_types?: readonly string[] | null;
  @NullableTextListParam() fetch_event_types?: readonly string[] | null;
  @NarrowPairsParam() narrow?: readonly (readonly [string, string])[];
  @IdleTimeoutParam() idle_queue_timeout?: number | 'mobile';
}

/** A poll; without `queue_id` but with `dont_block`, a registration in the old way (events §6.4). */
export class PollEventsDto {
  @TextParam({ optional: true }) queue_id?: string;
  @IntegerParam({ optional: true }) last_event_id?: number;
  @BooleanParam() dont_block = false;
  @NullableTextListParam() event_types?: readonly string[] | null;
  @NarrowPairsParam() narrow?: readonly (readonly [string, string])[];
  @BooleanParam({ optional: true }) all_public_streams?: boolean;
  @BooleanParam() apply_markdown = false;
  @NullableBooleanParam({ aliases: ['client_extavatar'] }) client_gravatar: boolean | null = null;
  @BooleanParam() slim_presence = false;
}

export class RemoveQueueDto {
  @TextParam() queue_id!: string;
}
