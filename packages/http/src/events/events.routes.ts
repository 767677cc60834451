import { LoadSpectatorState } from '@parley/domain/channels';
import { type Caller, RegisterQueue, type RegisterQueueInput } from '@parley/domain/kernel';
import type { RouteParts } from '../feature.js';
import { badParameter } from '../kernel/errors.js';
import { writeSections } from '../kernel/json-lists.js';
import { success, WireText } from '../kernel/reply.js';
import type { Request } from '../kernel/request.js';
import { type AnonymousClient, type Route, route } from '../kernel/route.js';
import { Turns } from '../kernel/turns.js';
import * as wire from '../kernel/wire-schema.js';
import { FEATURE_LEVEL, ZULIP_VERSION } from '../realms/server-version.js';
import { PollEventsDto, RegisterDto, RemoveQueueDto } from './events.dtos.js';
import { type QueuePresentation, queuePresentation } from './queue-presentation.js';
import type { RegisterRequest, RegisterSection } from './register-section.js';

/** Events §6.2, each with the fields of its type; the timeout only where the call opens a queue. */
const eventsAnswer = (event: wire.WireSchema<object>) =>
  wire.fields({
    events: wire.listOf(event),
    queue_id: wire.optional(wire.text()),
    idle_queue_timeout_secs: wire.optional(wire.integer()),
  });

/** Events §3.1, and of the sections those that were asked for. */
const registerAnswer = (sections: readonly RegisterSection[]) =>
  wire.fields({
    queue_id: wire.text(),
    last_event_id: wire.integer(),
    idle_queue_timeout_secs: wire.integer(),
    ...VERSION_FIELDS,
    ...wire.optionalFields(Object.assign({}, ...sections.map(({ fields }) => fields))),
  });

const spectatorAnswer = (sections: readonly RegisterSection[]) =>
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

/** So long a phone may sleep (events §6.1). */
const MOBILE_IDLE_SECONDS = 43_200;

type EventRouteParts = Pick<RouteParts, 'hub' | 'longPoll' | 'sections' | 'event' | 'clock'>;

/** By hand, because one answer waits and the other is written in parts. */
export function eventRoutes(parts: EventRouteParts): readonly Route[] {
  const { hub, longPoll } = parts;
  const turns = new Turns();
  return [
    route('POST', '/register', {
      auth: 'user',
      isExpensive: true,
      dto: RegisterDto,
      useCase: RegisterQueue,
      answer: registerAnswer(parts.sections),
      handle: async ({ caller, dto, request, useCase }) =>
        success(await register(useCase, caller, dto, request, { ...parts, turns })),
    }),
    // For browsers whose user has not logged in: what they begin with, and no queue (events §1).
    route('POST', '/json/register', {
      auth: 'anyone',
      atRoot: true,
      isExpensive: true,
      dto: RegisterDto,
      useCase: LoadSpectatorState,
      answer: spectatorAnswer(parts.sections),
      handle: async ({ caller, dto, request, useCase }) =>
        success(await registerSpectator(useCase, caller, dto, request, { ...parts, turns })),
    }),
    route('GET', '/events', {
      auth: 'user',
      hot: true,
      longPoll: true,
      dto: PollEventsDto,
      useCase: RegisterQueue,
      answer: eventsAnswer(parts.event),
      handle: async ({ caller, dto, request, useCase }) => {
        if (dto.queue_id === undefined) {
          if (!dto.dont_block) throw badParameter("Missing 'queue_id' argument");
          return success(await openInTheOldWay(useCase, caller, dto, request));
        }
        if (dto.last_event_id === undefined) throw badParameter("Missing 'last_event_id' argument");
        const poll = { queueId: dto.queue_id, lastPosition: dto.last_event_id, dontBlock: dto.dont_block };
        return longPoll.poll(caller, poll, request);
      },
    }),
    route('DELETE', '/events', {
      auth: 'user',
      dto: RemoveQueueDto,
      answer: wire.fields({}),
      handle: async ({ caller, dto }) => {
        await hub.remove(caller.realmId, caller.userId, dto.queue_id);
        return success();
      },
    }),
  ];
}

/** What an answer is to have, as it was asked for. */
function asked(
  dto: RegisterDto,
  request: Pick<Request, 'variant'>,
  { sections, clock }: EventRouteParts,
  isSpectator: boolean,
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
      isSpectator,
    },
    requested: sections.filter(
      (section) => section.isRequested(fetchEventTypes) && (!isSpectator || section.isForSpectators),
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
  parts: EventRouteParts & { readonly turns: Turns },
): Promise<WireText> {
  if (dto.client_gravatar === true) throw notForSpectators('client_gravatar');
  if (dto.include_subscribers !== 'false') throw notForSpectators('include_subscribers');
  const { request: shown, requested } = asked({ ...dto, client_gravatar: false }, request, parts, true);
  const loaded = await useCase.execute(caller, {
    loaders: loadersOf(requested, shown),
  });
  const presenters = requested.map(({ name }) => loaded[name]!);
  return new WireText(
    await parts.turns.runSteps(writeSections([() => ({ queue_id: null, ...VERSION }), ...presenters])),
  );
}

const notForSpectators = (parameter: string) => badParameter(`Invalid '${parameter}' parameter for anonymous request`);

async function register(
  useCase: RegisterQueue,
  caller: Caller,
  dto: RegisterDto,
  request: Request,
  parts: EventRouteParts & { readonly turns: Turns },
): Promise<WireText> {
  const { request: shown, requested } = asked(dto, request, parts, false);
  const { queue, loaded } = await useCase.execute(caller, {
    loaders: loadersOf(requested, shown),
    filter: filterFrom(dto),
    presentation: { ...shown.presentation },
    idleTimeoutSeconds: idleSeconds(dto.idle_queue_timeout),
  });
  const always = () => ({
    queue_id: queue.id,
    last_event_id: -1,
    idle_queue_timeout_secs: queue.idleTimeoutSeconds,
    ...VERSION,
  });
  const presenters = requested.map(({ name }) => loaded[name]!);
  return new WireText(await parts.turns.runSteps(writeSections([always, ...presenters])));
}

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
