import './invitation-errors.js';

export type {
  Invitation,
  InvitationEntry,
  InvitationEventTypes,
  InvitationRepository,
  NewInvitations,
} from './invitation.js';
export { ForgetInvitations, SendInvitationLetters } from './invitation-jobs.js';
export type { InvitationKind } from './invitation-permissions.js';
export { type InvitationError, judgeInvitees } from './invitees.js';
export * from './use-cases/create-invitation-link.js';
export * from './use-cases/get-sign-up.js';
export * from './use-cases/invite-by-email.js';
export * from './use-cases/join-or-confirm.js';
export * from './use-cases/join-realm.js';
export * from './use-cases/list-invitations.js';
export * from './use-cases/request-sign-up.js';
export * from './use-cases/resend-invitation.js';
export * from './use-cases/revoke-invitation.js';
export * from './use-cases/test-welcome-message.js';
export { SendWelcomeLetters } from './welcome-letter.js';
