import { AddWebPushSubscription, ListWebPushSubscriptions, RemoveWebPushSubscription } from '@parley/domain/push';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { NoParameters, TextParam } from '../params/params.js';
import type { WireErrors } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

const MAX_ENDPOINT_LENGTH = 2048;
const MAX_KEY_LENGTH = 100;

class SubscriptionDto {
  @TextParam({ max: MAX_ENDPOINT_LENGTH }) endpoint!: string;
  @TextParam({ max: MAX_KEY_LENGTH, description: 'Public key of the push subscription.' }) p256dh!: string;
  @TextParam({ max: MAX_KEY_LENGTH, description: 'Authentication secret of the push subscription.' }) auth!: string;
}

class EndpointDto {
  @TextParam({ max: MAX_ENDPOINT_LENGTH }) endpoint!: string;
}

const WEB_PUSH_WIRE_ERRORS = {
  WEB_PUSH_NOT_CONFIGURED: { code: 'PUSH_SERVICE_NOT_CONFIGURED' },
} as const satisfies WireErrors;

/** Extensions §5. */
const webPushRoutes: readonly Route[] = [
  route('GET', '/web_push/subscriptions', {
    summary: 'List browsers that get push notifications',
    extension: 'extensions §5',
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    useCase: ListWebPushSubscriptions,
    response: wire.fields({
      vapid_public_key: wire.nullable(wire.text()),
      endpoints: wire.listOf(wire.text()),
    }),
    present: ({ publicKey, endpoints }) => ({ vapid_public_key: publicKey, endpoints }),
  }),
  route('POST', '/web_push/subscriptions', {
    summary: 'Register a browser for push notifications',
    extension: 'extensions §5',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['human'],
    dto: SubscriptionDto,
    useCase: AddWebPushSubscription,
    toInput: ({ endpoint, p256dh, auth }) => ({ endpoint, publicKey: p256dh, authSecret: auth }),
  }),
  route('DELETE', '/web_push/subscriptions', {
    summary: 'Remove a browser from push notifications',
    extension: 'extensions §5',
    auth: 'user',
    scope: 'account',
    dto: EndpointDto,
    useCase: RemoveWebPushSubscription,
    toInput: ({ endpoint }) => ({ endpoint }),
  }),
];

export const WEB_PUSH = {
  tag: 'Push notifications',
  routes: () => webPushRoutes,
  errors: WEB_PUSH_WIRE_ERRORS,
} satisfies HttpFeature;
