import {
  AcceptInvitation,
  CreateInvitationLink,
  ForgetInvitations,
  InviteByEmail,
  ListInvitations,
  ResendInvitation,
  RevokeInvitation,
  SendInvitationLetters,
  TestWelcomeMessage,
} from '@parley/domain/invitations';
import { SystemMessages } from '@parley/domain/messages';
import { ContainerModule } from 'inversify';
import { provide, provideAs } from '../provide.js';
import { LISTS, TOKENS } from '../tokens.js';

const {
  apiKeyMint,
  clock,
  disposableDomains,
  invitationConfig,
  invitationKeys,
  mailer,
  passwordHasher,
  passwordStrength,
  realmUrls,
  unitOfWork,
} = TOKENS;

export const invitationsModule = new ContainerModule(({ bind }) => {
  provide(bind, CreateInvitationLink, unitOfWork, invitationKeys, realmUrls, clock, invitationConfig);
  provide(bind, ListInvitations, unitOfWork, invitationKeys, realmUrls, clock);
  provide(bind, InviteByEmail, unitOfWork, disposableDomains, clock, invitationConfig);
  provide(bind, RevokeInvitation, unitOfWork, clock);
  provide(bind, ResendInvitation, unitOfWork, clock);
  provide(
    bind,
    AcceptInvitation,
    unitOfWork,
    invitationKeys,
    passwordHasher,
    passwordStrength,
    disposableDomains,
    apiKeyMint,
    SystemMessages,
    clock,
  );
  provide(bind, TestWelcomeMessage, unitOfWork, SystemMessages);
  provide(bind, SendInvitationLetters, mailer, unitOfWork, invitationKeys, realmUrls, clock);
  provideAs(bind, LISTS.jobHandler, SendInvitationLetters);
  provide(bind, ForgetInvitations);
  provideAs(bind, LISTS.jobHandler, ForgetInvitations);
});
