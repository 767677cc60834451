import {
  type Caller,
  type Clock,
  type EventHub,
  type RealmUrls,
  RegisterQueue,
  type RegisterQueueInput,
  type Snapshot,
} from '@parley/domain';
import { type PublicRealm, publicRealmOf } from '../realms/public-realm.js';
import type { ServerInfo } from '../realms/realm.presenters.js';
import { badParameter } from '../routing/errors.js';
import { success, WireText } from '../routing/reply.js';
import type { Request } from '../routing/request.js';
import { type Route, route } from '../routing/route.js';
import { presentUnknownUser } from '../users/user.presenters.js';
import type { UserPagePresenter } from '../users/user-page.js';
import { PollEventsDto, RegisterDto, RemoveQueueDto } from './events.dtos.js';
import type { LongPoll } from './long-poll.js';
import { can, type QueuePresentation, queuePresentation } from './queue-presentation.js';
import { presentSnapshot, type SnapshotContext } from './register.presenters.js';
import { isRequested, partsForSections } from './register-sections.js';

/** So long a phone may sleep (events §6.1). */
const MOBILE_IDLE_SECONDS = 43_200;

export interface EventRouteParts {
  readonly hub: EventHub;
  readonly longPoll: LongPoll;
  readonly userPages: UserPagePresenter;
  readonly realmUrls: RealmUrls;
  readonly serverInfo: ServerInfo;
  readonly clock: Clock;
}

/**
 * By hand, because one answer waits and the other is joined from texts that are made inside the snapshot's read.
 */
export function eventRoutes(parts: EventRouteParts): readonly Route[] {
  const { hub, longPoll } = parts;
  return [
    route('POST', '/register', {
      auth: 'user',
      isExpensive: true,
      dto: RegisterDto,
      useCase: RegisterQueue,
      handle: async ({ caller, dto, request, useCase }) =>
        success(await register(useCase, caller, dto, request, parts)),
    }),
    route('GET', '/events', {
      auth: 'user',
      hot: true,
      longPoll: true,
      dto: PollEventsDto,
      useCase: RegisterQueue,
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
      handle: async ({ caller, dto }) => {
        await hub.remove(caller.realmId, caller.userId, dto.queue_id);
        return success();
      },
    }),
  ];
}

async function register(
  useCase: RegisterQueue,
  caller: Caller,
  dto: RegisterDto,
  request: Request,
  { userPages, realmUrls, serverInfo, clock }: EventRouteParts,
): Promise<WireText> {
  const wanted = dto.fetch_event_types ?? dto.event_types ?? null;
  const fetchEventTypes = wanted && new Set(wanted);
  const includeSubscribers = dto.include_subscribers !== 'false';
  const presentation = presentationFrom(dto, dto.client_capabilities ?? {}, request);
  const { queue, presented } = await useCase.execute(
    caller,
    {
      parts: partsForSections(fetchEventTypes),
      includeSubscribers,
      filter: filterFrom(dto),
      presentation: { ...presentation },
      idleTimeoutSeconds: idleSeconds(dto.idle_queue_timeout),
    },
    async (snapshot) => {
      const context: SnapshotContext = {
        snapshot,
        fetchEventTypes,
        presentation,
        includeSubscribers,
        variant: request.variant,
        publicRealm: publicRealmOf(snapshot.realm, realmUrls),
        serverInfo,
        now: clock.nowMs() / 1000,
      };
      const people = isRequested('realm_user', fetchEventTypes)
        ? await presentPeople(snapshot, presentation, userPages, context.publicRealm)
        : '';
      return JSON.stringify(presentSnapshot(context)).slice(1, -1) + people;
    },
  );
  const { id, idleTimeoutSeconds } = queue;
  return new WireText(
    `"queue_id":${JSON.stringify(id)},"last_event_id":-1,"idle_queue_timeout_secs":${idleTimeoutSeconds},${presented}`,
  );
}

/**
 * Active users, deactivated ones and the realm's own bots, joined from cached text (events §3.3). Those whom a guest may not
 * know are left out, or stand among the active ones as somebody unknown where the client expects everybody (users §1.4).
 */
async function presentPeople(
  { people, viewer, realm }: Snapshot,
  presentation: QueuePresentation,
  pages: UserPagePresenter,
  publicRealm: PublicRealm,
): Promise<string> {
  const { entries, inaccessibleIds, systemBots, hydrate } = people!;
  const form = { clientGravatar: presentation.clientGravatar, withProfile: true };
  const list = (isActive: boolean) =>
    pages.present({ viewer, realm, entries: entries.filter((entry) => entry.isActive === isActive) }, hydrate, {
      ...form,
      withActivity: false,
    });
  const bots = await pages.present({ viewer, realm, entries: systemBots }, async () => systemBots, {
    ...form,
    withActivity: true,
  });
  const unknown = can(presentation, 'user_list_incomplete') ? [] : inaccessibleIds;
  const inaccessibleUsers = unknown.map((id) =>
    JSON.stringify(presentUnknownUser(id, publicRealm, { withActivity: false })),
  );
  const [active, deactivated] = [await list(true), await list(false)];
  return (
    `,"realm_users":${append(active, inaccessibleUsers)},"realm_non_active_users":${deactivated}` +
    `,"cross_realm_bots":${bots}`
  );
}

/** More elements, as text, at the end of a JSON array. */
function append(array: string, elements: readonly string[]): string {
  if (elements.length === 0) return array;
  return `${array === '[]' ? '[' : `${array.slice(0, -1)},`}${elements.join(',')}]`;
}

async function openInTheOldWay(useCase: RegisterQueue, caller: Caller, dto: PollEventsDto, request: Request) {
  const { queue } = await useCase.execute(
    caller,
    {
      parts: new Set(),
      includeSubscribers: false,
      filter: filterFrom(dto),
      presentation: { ...presentationFrom(dto, {}, request) },
      idleTimeoutSeconds: null,
    },
    async () => null,
  );
  return { queue_id: queue.id, events: [], idle_queue_timeout_secs: queue.idleTimeoutSeconds };
}

function presentationFrom(
  dto: Pick<RegisterDto, 'apply_markdown' | 'client_gravatar' | 'slim_presence'>,
  capabilities: Readonly<Record<string, boolean | undefined>>,
  request: Request,
): QueuePresentation {
  return queuePresentation({
    applyMarkdown: dto.apply_markdown,
    clientGravatar: dto.client_gravatar ?? true,
    slimPresence: dto.slim_presence,
    capabilities,
    client: request.variant.key,
  });
}

function filterFrom(
  dto: Pick<RegisterDto, 'event_types' | 'all_public_streams' | 'narrow'>,
): RegisterQueueInput['filter'] {
  return {
    types: dto.event_types ?? null,
    allPublicChannels: dto.all_public_streams ?? false,
    narrow: (dto.narrow ?? []).map(([operator, operand]) => ({ operator, operand })),
  };
}

const idleSeconds = (wanted: RegisterDto['idle_queue_timeout']): number | null =>
  wanted === 'mobile' ? MOBILE_IDLE_SECONDS : (wanted ?? null);
