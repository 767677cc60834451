import { LoadSpectatorState } from '@parley/domain/channels';
import {
  type Caller,
  type ChannelId,
  RegisterQueue,
  type RegisterQueueInput,
  type UserId,
} from '@parley/domain/kernel';
import { LoadMoreState, loadIsPartial, PARTIAL_STATE } from '@parley/domain/messages';
import type { HttpFeature, RouteParts } from '../declarations/feature.js';
import { type RegisterRequest, type RegisterSection, registerSection } from '../declarations/register-section.js';
import { type AnonymousClient, type Route, route } from '../declarations/route.js';
import { outOfScope } from '../declarations/scope.js';
import { FEATURE_LEVEL, ZULIP_VERSION } from '../declarations/server-info.js';
import { can, type QueuePresentation, queuePresentation, toNobody } from '../delivery/event-presenter.js';
import { YieldingScheduler } from '../limits/yielding.js';
import { writeSections } from '../params/json-lists.js';
import {
  anyOf,
  boolean,
  integer,
  json,
  listOf,
  MAX_TEXT_LENGTH,
  MAX_TOKEN_LENGTH,
  nullable,
  object,
  oneOf,
  optional,
  type ParamType,
  refine,
  text,
} from '../params/param-types.js';
import {
  BooleanParam,
  IntegerParam,
  NullableBooleanParam,
  NullableIntegerParam,
  type ParamOptions,
  param,
  TextParam,
  WordParam,
} from '../params/params.js';
import { remainingMs } from '../security/authenticate.js';
import { badParameter, success, type WireErrors, WireText } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import * as wire from '../wire/schema.js';

export const EVENT_WIRE_ERRORS = {
  UNKNOWN_EVENT_QUEUE: {
    code: 'BAD_EVENT_QUEUE_ID',
    fields: { queueId: 'queue_id' },
    text: ({ queueId }, variant) => (variant?.hasOldQueueErrorText ? `Bad event queue id: ${queueId}` : undefined),
  },
} as const satisfies WireErrors;

const MAX_EVENT_TYPES = 100;
const MAX_NARROW_TERMS = 100;

/** Limits of a request for more channels and users (extensions §18). */
const MAX_MORE_IDS = 100;
const MAX_QUERY_LENGTH = 100;
/** Sections about single channels and users. */
const SECTIONS_OF_MORE_STATE: readonly string[] = ['stream', 'subscription', 'user_topic', 'realm_users', 'presence'];

/** Limits of the data stored with a queue. A filter takes at most 8 kB including member names. */
const MAX_EVENT_TYPES_BYTES = 3000;
const MAX_NARROW_BYTES = 2500;

const limitedTo = <T>(bytes: number, type: ParamType<T>): ParamType<T> =>
  refine(type, (value) =>
    Buffer.byteLength(JSON.stringify(value)) > bytes ? `{p} is too long (limit: ${bytes} bytes)` : undefined,
  );

const EventTypesParam = (options?: ParamOptions) =>
  param(nullable(limitedTo(MAX_EVENT_TYPES_BYTES, listOf(text({ max: MAX_TOKEN_LENGTH }), { max: MAX_EVENT_TYPES }))), {
    optional: true,
    ...options,
  });

/** Narrow as pairs, for example `[["channel", "denmark"], ["topic", "lunch"]]`. */
const NarrowPairsParam = () =>
  param(
    limitedTo(
      MAX_NARROW_BYTES,
      listOf(listOf(text({ max: MAX_TEXT_LENGTH }), { length: 2 }), { max: MAX_NARROW_TERMS }),
    ),
    { optional: true },
  );

/** Client capabilities by name (events §2). Missing ones are off and unknown names are ignored. */
const CapabilitiesParam = () =>
  param(
    object(
      {
        notification_settings_null: boolean(),
        ...Object.fromEntries(OPTIONAL_CAPABILITIES.map((name) => [name, optional(boolean())])),
      },
      { open: true },
    ),
    { optional: true, description: 'Features supported by the client; they determine the format of events.' },
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
  // Parley extension: clients that reject unknown event keys omit it and get no external ids (README decision 34).
  'external_ids',
  // Parley extension: others get no events about data of the application that embeds the chat (extensions §14).
  'application_data',
  // Parley extension: data that large organizations make long, or that few clients use, is left out (extensions §17).
  'lean_state',
  // Parley extension: large organizations' channels and guests are fetched when needed (extensions §18).
  'partial_state',
] as const;

const EVERY_CAPABILITY = Object.fromEntries(
  ['notification_settings_null', ...OPTIONAL_CAPABILITIES].map((name) => [name, true]),
);

/** Number of seconds for browsers, or the JSON string `"mobile"` for phones that sleep for hours (events §1). */
const IdleTimeoutParam = () =>
  param(anyOf([integer(), json(oneOf(['mobile']))]), {
    optional: true,
    description: 'Seconds without a poll after which the queue expires.',
  });

export class RegisterDto {
  @NullableBooleanParam({ aliases: ['client_extavatar'] }) client_gravatar: boolean | null = null;
  @BooleanParam() apply_markdown = false;
  @BooleanParam() slim_presence = false;
  @NullableIntegerParam({ description: 'Days for which presence is returned.' }) presence_history_limit_days:
    | number
    | null = null;
  @BooleanParam({ optional: true }) all_public_streams?: boolean;
  @WordParam(['true', 'false', 'partial']) include_subscribers: 'true' | 'false' | 'partial' = 'false';
  @CapabilitiesParam() client_capabilities?: Readonly<Record<string, boolean | undefined>>;
  @EventTypesParam() event_types?: readonly string[] | null;
  @EventTypesParam({ description: 'Types of the initial state to return; `event_types` if absent.' })
  fetch_event_types?: readonly string[] | null;
  @NarrowPairsParam() narrow?: readonly (readonly [string, string])[];
  @IdleTimeoutParam() idle_queue_timeout?: number | 'mobile';
}

/** Parameters of a poll. Without `queue_id` but with `dont_block`, it registers in the legacy way (events §6.4). */
export class PollEventsDto {
  @TextParam({ max: MAX_TOKEN_LENGTH, optional: true }) queue_id?: string;
  @IntegerParam({ optional: true, description: 'Highest event id received before; earlier events are acknowledged.' })
  last_event_id?: number;
  @BooleanParam({ description: 'Whether to return at once if there are no events.' }) dont_block = false;
  @EventTypesParam() event_types?: readonly string[] | null;
  @NarrowPairsParam() narrow?: readonly (readonly [string, string])[];
  @BooleanParam({ optional: true }) all_public_streams?: boolean;
  @BooleanParam() apply_markdown = false;
  @NullableBooleanParam({ aliases: ['client_extavatar'] }) client_gravatar: boolean | null = null;
  @BooleanParam() slim_presence = false;
}

const ids = (description: string) => param(listOf(integer(), { max: MAX_MORE_IDS }), { optional: true, description });

/** Clients of the route have all capabilities and keep lists of subscribers. */
export class MoreStateDto {
  @ids('Ids of the wanted channels.') stream_ids?: number[];
  @ids('Ids of the wanted users.') user_ids?: number[];
  @TextParam({ max: MAX_QUERY_LENGTH, optional: true, description: 'Text in names of channels and users.' })
  query?: string;
  @BooleanParam({ aliases: ['client_extavatar'] }) client_gravatar = false;
}

export class RemoveQueueDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) queue_id!: string;
}

/** Event schema with the fields of each type (events §6.2). The timeout is present only if the call opens a queue. */
const eventsResponse = (event: wire.WireSchema<object>) =>
  wire.fields({
    events: wire.listOf(event),
    queue_id: wire.optional(wire.text()),
    idle_queue_timeout_secs: wire.optional(wire.integer()),
  });

/** Schema of the register response with the requested sections (events §3.1). */
const registerResponse = (sections: readonly RegisterSection[]) =>
  wire.fields({
    queue_id: wire.text(),
    last_event_id: wire.integer(),
    idle_queue_timeout_secs: wire.integer(),
    ...VERSION_FIELDS,
    ...wire.optionalFields(Object.assign({}, ...sections.map(({ fields }) => fields))),
  });

const spectatorResponse = (sections: readonly RegisterSection[]) =>
  wire.fields({
    queue_id: wire.nullable(wire.text()),
    ...VERSION_FIELDS,
    ...wire.optionalFields(
      Object.assign(
        {},
        ...sections.filter(({ isForSpectators }) => isForSpectators).map(({ spectatorFields }) => spectatorFields),
      ),
    ),
  });

const VERSION_FIELDS = {
  zulip_version: wire.text(),
  zulip_merge_base: wire.text(),
  zulip_feature_level: wire.integer(),
};

/** Idle timeout of phones (events §6.1). */
const MOBILE_IDLE_SECONDS = 43_200;

type EventRouteParts = Pick<RouteParts, 'hub' | 'longPoll' | 'sections' | 'event' | 'clock'>;

/** Custom handlers, because polls wait and register streams its response. */
export function eventRoutes(parts: EventRouteParts): readonly Route[] {
  const { hub, longPoll, clock } = parts;
  const scheduler = new YieldingScheduler();
  return [
    route('POST', '/register', {
      summary: 'Create an event queue and get the current state',
      section: 'events §1',
      lacks:
        'always empty: `realm_embedded_bots`, keys of GIF services other than GIPHY, accounts at providers of calls',
      withoutPage: 'development',
      auth: 'user',
      scope: { action: 'read' },
      isExpensive: true,
      dto: RegisterDto,
      useCase: RegisterQueue,
      response: registerResponse(parts.sections),
      handle: async ({ caller, dto, request, useCase }) =>
        success(await register(useCase, caller, dto, request, { ...parts, scheduler })),
    }),
    moreStateRoute(parts, scheduler),
    // Initial state without a queue for browsers without a log-in (events §1).
    route('POST', '/json/register', {
      summary: 'Get the state visible without an account',
      section: 'events §1',
      auth: 'anyone',
      atRoot: true,
      isExpensive: true,
      dto: RegisterDto,
      useCase: LoadSpectatorState,
      response: spectatorResponse(parts.sections),
      handle: async ({ caller, dto, request, useCase }) =>
        success(await registerSpectator(useCase, caller, dto, request, { ...parts, scheduler })),
    }),
    route('GET', '/events', {
      summary: 'Get events of a queue, waiting for the next one',
      section: 'events §6.2',
      withoutPage: 'development',
      auth: 'user',
      scope: { action: 'read' },
      longPoll: true,
      dto: PollEventsDto,
      useCase: RegisterQueue,
      response: eventsResponse(parts.event),
      handle: async ({ caller, dto, request, useCase, identity }) => {
        if (dto.queue_id === undefined) {
          if (!dto.dont_block) throw badParameter("Missing 'queue_id' argument");
          if (caller.scope) throw outOfScope();
          return success(await openInTheOldWay(useCase, caller, dto, request));
        }
        if (dto.last_event_id === undefined) throw badParameter("Missing 'last_event_id' argument");
        const { queue_id: queueId, last_event_id: lastPosition, dont_block: dontBlock } = dto;
        const endsInMs = remainingMs(identity!, clock.nowMs());
        return longPoll.poll(caller, { queueId, lastPosition, dontBlock, endsInMs }, request);
      },
    }),
    route('DELETE', '/events', {
      summary: 'Delete an event queue',
      section: 'events §6.5',
      withoutPage: 'development',
      auth: 'user',
      scope: { action: 'read' },
      dto: RemoveQueueDto,
      response: wire.fields({}),
      handle: async ({ caller, dto }) => {
        if (caller.scope) await longPoll.find(caller, dto.queue_id);
        await hub.remove(caller.realmId, caller.userId, dto.queue_id);
        return success();
      },
    }),
  ];
}

const moreStateRoute = (parts: EventRouteParts, scheduler: YieldingScheduler): Route =>
  route('GET', '/register/more', {
    summary: 'Get the state of more channels and users',
    extension: 'extensions §18',
    auth: 'user',
    scope: 'account',
    isExpensive: true,
    dto: MoreStateDto,
    useCase: LoadMoreState,
    response: wire.fields(Object.assign({}, ...moreSections(parts.sections).map(({ fields }) => fields)) as wire.Shape),
    handle: async ({ caller, dto, request, useCase }) =>
      success(await loadMore(useCase, caller, dto, request, { ...parts, scheduler })),
  });

/** Parts of the register response that the client requested. */
function asked(
  dto: RegisterDto,
  request: Pick<Request, 'variant'>,
  { sections, clock }: EventRouteParts,
  caller: Caller | null,
): { readonly request: RegisterRequest; readonly requested: readonly RegisterSection[] } {
  const wanted = dto.fetch_event_types ?? dto.event_types ?? null;
  const fetchEventTypes = wanted && new Set(wanted);
  return {
    request: {
      presentation: presentationFrom(dto, dto.client_capabilities ?? {}, request),
      includeSubscribers: dto.include_subscribers !== 'false',
      variant: request.variant,
      presenceHistoryDays: dto.presence_history_limit_days,
      now: clock.nowMs() / 1000,
      isSpectator: caller === null,
      scope: caller?.scope,
    },
    requested: sections.filter(
      (section) => section.isRequested(fetchEventTypes) && (caller !== null || section.isForSpectators),
    ),
  };
}

const loadersOf = (requested: readonly RegisterSection[], request: RegisterRequest) =>
  Object.fromEntries(requested.map((section) => [section.name, section.loader(request)]));

const VERSION = {
  zulip_version: ZULIP_VERSION,
  zulip_merge_base: ZULIP_VERSION,
  zulip_feature_level: FEATURE_LEVEL,
};

async function registerSpectator(
  useCase: LoadSpectatorState,
  caller: AnonymousClient,
  dto: RegisterDto,
  request: Request,
  parts: EventRouteParts & { readonly scheduler: YieldingScheduler },
): Promise<WireText> {
  if (dto.client_gravatar === true) throw notForSpectators('client_gravatar');
  if (dto.include_subscribers !== 'false') throw notForSpectators('include_subscribers');
  const { request: shown, requested } = asked({ ...dto, client_gravatar: false }, request, parts, null);
  const loaded = await useCase.execute(caller, {
    loaders: loadersOf(requested, shown),
  });
  const presenters = requested.map(({ name }) => loaded[name]!);
  return new WireText(
    await parts.scheduler.runSteps(writeSections([() => ({ queue_id: null, ...VERSION }), ...presenters])),
  );
}

const notForSpectators = (parameter: string) => badParameter(`Invalid '${parameter}' parameter for anonymous request`);

async function register(
  useCase: RegisterQueue,
  caller: Caller,
  dto: RegisterDto,
  request: Request,
  parts: EventRouteParts & { readonly scheduler: YieldingScheduler },
): Promise<WireText> {
  const { request: shown, requested } = asked(dto, request, parts, caller);
  const { queue, loaded } = await useCase.execute(caller, {
    loaders: loadersOf(requested, shown),
    ...(can(shown.presentation, 'partial_state') && !caller.scope && { substitutes: PARTIAL_STATE }),
    filter: filterFrom(dto),
    presentation: { ...shown.presentation, ...(caller.scope && { conversations: caller.scope.conversations }) },
    idleTimeoutSeconds: idleSeconds(dto.idle_queue_timeout),
  });
  const always = () => ({
    queue_id: queue.id,
    last_event_id: -1,
    idle_queue_timeout_secs: queue.idleTimeoutSeconds,
    ...VERSION,
  });
  const presenters = requested.map(({ name }) => loaded[name]!);
  return new WireText(await parts.scheduler.runSteps(writeSections([always, ...presenters])));
}

const moreSections = (sections: readonly RegisterSection[]) =>
  sections.filter(({ name }) => SECTIONS_OF_MORE_STATE.includes(name));

async function loadMore(
  useCase: LoadMoreState,
  caller: Caller,
  dto: MoreStateDto,
  request: Request,
  parts: EventRouteParts & { readonly scheduler: YieldingScheduler },
): Promise<WireText> {
  const { client_gravatar } = dto;
  const form = {
    client_gravatar,
    client_capabilities: EVERY_CAPABILITY,
    include_subscribers: 'true',
    slim_presence: true,
  };
  const { request: shown } = asked(Object.assign(new RegisterDto(), form), request, parts, caller);
  const requested = moreSections(parts.sections);
  const loaded = await useCase.execute(caller, {
    channelIds: (dto.stream_ids ?? []) as ChannelId[],
    userIds: (dto.user_ids ?? []) as UserId[],
    text: dto.query?.trim() || null,
    loaders: loadersOf(requested, shown),
  });
  return new WireText(await parts.scheduler.runSteps(writeSections(requested.map(({ name }) => loaded[name]!))));
}

/** Tells clients with the capability that they have a part of the channels and users. */
const partialStateSection: RegisterSection = registerSection({
  name: 'partial_state',
  fields: { partial_state: wire.boolean() },
  load: (snapshot, { presentation, scope }) =>
    can(presentation, 'partial_state') && !scope ? snapshot.load(loadIsPartial) : Promise.resolve(false),
  present: (isPartial): { partial_state?: boolean } => (isPartial ? { partial_state: true } : {}),
});

async function openInTheOldWay(useCase: RegisterQueue, caller: Caller, dto: PollEventsDto, request: Request) {
  const { queue } = await useCase.execute(caller, {
    loaders: {},
    filter: filterFrom(dto),
    presentation: { ...presentationFrom(dto, {}, request) },
    idleTimeoutSeconds: null,
  });
  return { queue_id: queue.id, events: [], idle_queue_timeout_secs: queue.idleTimeoutSeconds };
}

function presentationFrom(
  dto: Pick<RegisterDto, 'event_types' | 'apply_markdown' | 'client_gravatar' | 'slim_presence'>,
  capabilities: Readonly<Record<string, boolean | undefined>>,
  request: Pick<Request, 'variant'>,
): QueuePresentation {
  return queuePresentation({
    eventTypes: dto.event_types ?? null,
    applyMarkdown: dto.apply_markdown,
    clientGravatar: dto.client_gravatar ?? true,
    slimPresence: dto.slim_presence,
    capabilities,
    client: request.variant.key,
  });
}

function filterFrom(dto: Pick<RegisterDto, 'all_public_streams' | 'narrow'>): RegisterQueueInput['filter'] {
  return {
    ...(dto.all_public_streams !== undefined && { allPublicChannels: dto.all_public_streams }),
    ...(dto.narrow && { narrow: dto.narrow.map(([operator, operand]) => ({ operator, operand })) }),
  };
}

const idleSeconds = (wanted: RegisterDto['idle_queue_timeout']): number | null =>
  wanted === 'mobile' ? MOBILE_IDLE_SECONDS : (wanted ?? null);

export const EVENTS = {
  tag: 'Events',
  routes: eventRoutes,
  registerSections: () => [partialStateSection],
  events: { blank: toNobody, blanked: toNobody, forked: toNobody, restarted: toNobody, 'queue.last_expired': toNobody },
  errors: EVENT_WIRE_ERRORS,
} satisfies HttpFeature;
