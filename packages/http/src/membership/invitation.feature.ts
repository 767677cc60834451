import type { InvitationEventTypes } from '@parley/domain/membership';
import { form } from '../events/event-forms.js';
import { type Presenters, toAll } from '../events/event-presenter.js';
import type { HttpFeature } from '../feature.js';
import { INVITATION_WIRE_ERRORS } from './invitation.errors.js';
import { invitationRoutes } from './invitation.routes.js';

export const INVITATIONS = {
  routes: () => invitationRoutes,
  errors: INVITATION_WIRE_ERRORS,
  events: {
    'invitations.changed': toAll(form('invites_changed'), () => ({})),
  } satisfies Presenters<keyof InvitationEventTypes>,
} satisfies HttpFeature;
