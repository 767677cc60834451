import type { ChannelId, HoldId, MessageId, UserId } from '@parley/domain/kernel';
import { CreateHold, type Hold, ListHolds, MAX_HOLD_REASON_LENGTH, ReleaseHold } from '@parley/domain/writing';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { IntegerParam, NoParameters, TextParam } from '../params/params.js';
import * as wire from '../wire/schema.js';

class CreateHoldDto {
  @TextParam({ max: MAX_HOLD_REASON_LENGTH, description: 'Why, such as the number of a court case.' }) reason!: string;
  @IntegerParam({ optional: true, description: 'Only messages of this user and direct conversations with them.' })
  user_id?: number;
  @IntegerParam({ optional: true, description: 'Only messages that are or were in this channel.' }) stream_id?: number;
  @IntegerParam({ optional: true, description: 'Only this message.' }) message_id?: number;
  @IntegerParam({ optional: true, min: 0, description: 'Earliest time of sending in Unix seconds.' }) since?: number;
  @IntegerParam({ optional: true, min: 0, description: 'Latest time of sending in Unix seconds.' }) until?: number;
}

class ReleaseHoldDto {
  @IntegerParam({ description: 'Id of the hold.' }) hold_id!: number;
}

const HOLD = wire.named(
  'Hold',
  wire.fields({
    id: wire.integer(),
    reason: wire.text(),
    user_id: wire.nullable(wire.integer()),
    stream_id: wire.nullable(wire.integer()),
    message_id: wire.nullable(wire.integer()),
    since: wire.nullable(wire.integer()),
    until: wire.nullable(wire.integer()),
    created_at: wire.integer(),
    created_by: wire.nullable(wire.integer()),
    released_at: wire.nullable(wire.integer()),
    released_by: wire.nullable(wire.integer()),
  }),
);

const presentHold = (hold: Hold) => ({
  id: hold.id,
  reason: hold.reason,
  user_id: hold.personId,
  stream_id: hold.channelId,
  message_id: hold.messageId,
  since: hold.since,
  until: hold.until,
  created_at: hold.createdAt,
  created_by: hold.createdBy,
  released_at: hold.releasedAt,
  released_by: hold.releasedBy,
});

const BY_OWNERS = {
  auth: 'user',
  scope: 'account',
  roleRequirements: ['owner'],
  extension: 'extensions §16',
  withoutPage: 'scripts',
} as const;

const holdRoutes = (): readonly Route[] => [
  route('GET', '/holds', {
    summary: 'List the holds of the organization',
    ...BY_OWNERS,
    dto: NoParameters,
    useCase: ListHolds,
    response: wire.fields({ holds: wire.listOf(HOLD) }),
    present: (holds) => ({ holds: holds.map(presentHold) }),
  }),
  route('POST', '/holds', {
    summary: 'Hold messages',
    ...BY_OWNERS,
    dto: CreateHoldDto,
    useCase: CreateHold,
    toInput: ({ reason, user_id, stream_id, message_id, since, until }) => ({
      reason,
      personId: (user_id as UserId | undefined) ?? null,
      channelId: (stream_id as ChannelId | undefined) ?? null,
      messageId: (message_id as MessageId | undefined) ?? null,
      since: since ?? null,
      until: until ?? null,
    }),
    response: wire.fields({ hold: HOLD }),
    present: (hold) => ({ hold: presentHold(hold) }),
  }),
  route('POST', '/holds/:hold_id/release', {
    summary: 'Release a hold',
    ...BY_OWNERS,
    dto: ReleaseHoldDto,
    useCase: ReleaseHold,
    toInput: ({ hold_id }) => ({ holdId: hold_id as HoldId }),
    response: wire.fields({ hold: HOLD }),
    present: (hold) => ({ hold: presentHold(hold) }),
  }),
];

export const HOLDS = {
  tag: 'Organization',
  routes: holdRoutes,
  errors: { UNKNOWN_HOLD: { status: 404 } },
} satisfies HttpFeature;
