import type { HttpFeature, RouteParts } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { EventStreams } from '../delivery/stream.js';
import { MAX_TOKEN_LENGTH } from '../params/param-types.js';
import { IntegerParam, TextParam } from '../params/params.js';
import { remainingMs } from '../security/authenticate.js';
import { badParameter, success } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import * as wire from '../wire/schema.js';

/** Parameters of a stream. The header `Last-Event-ID` of a reconnecting `EventSource` precedes `last_event_id`. */
export class StreamEventsDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) queue_id!: string;
  @IntegerParam({ optional: true, description: 'Highest event id received before; earlier events are acknowledged.' })
  last_event_id?: number;
}

export class AcknowledgeEventsDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) queue_id!: string;
  @IntegerParam({ description: 'Highest event id received before; earlier events are acknowledged.' })
  last_event_id!: number;
}

function eventStreamRoutes({ hub, longPoll, clock }: RouteParts): readonly Route[] {
  const streams = new EventStreams(longPoll);
  return [
    route('GET', '/events/stream', {
      summary: 'Receive the events of a queue as server-sent events',
      extension: 'extensions §7',
      withoutPage: 'development',
      auth: 'user',
      scope: { action: 'read' },
      longPoll: true,
      dto: StreamEventsDto,
      response: 'bytes',
      contentType: 'text/event-stream',
      handle: async ({ caller, dto, request, identity }) => {
        const lastPosition = lastEventIdOf(request) ?? dto.last_event_id;
        if (lastPosition === undefined) throw badParameter("Missing 'last_event_id' argument");
        const endsInMs = remainingMs(identity!, clock.nowMs());
        return streams.begin(caller, { queueId: dto.queue_id, lastPosition, endsInMs }, request);
      },
    }),
    route('POST', '/events/acknowledge', {
      summary: 'Acknowledge events received by a stream',
      extension: 'extensions §7',
      withoutPage: 'development',
      auth: 'user',
      scope: { action: 'read' },
      limit: 'events_by_user',
      dto: AcknowledgeEventsDto,
      response: wire.fields({}),
      handle: async ({ caller, dto }) => {
        const { live } = await longPoll.find(caller, dto.queue_id, dto.last_event_id);
        await hub.acknowledge(live, dto.last_event_id);
        return success();
      },
    }),
  ];
}

/** Undefined without the header. @throws HttpRefusal for other values than event ids */
function lastEventIdOf(request: Request): number | undefined {
  const text = request.header('last-event-id');
  if (text === undefined || text === '') return undefined;
  const id = Number(text);
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(id)) throw badParameter('Last-Event-ID is not an integer');
  return id;
}

export const EVENT_STREAMS = { tag: 'Events', routes: eventStreamRoutes } satisfies HttpFeature;
