import {
  CreateInvitationLink,
  ForgetInvitations,
  GetSignUp,
  InviteByEmail,
  JoinOrConfirm,
  JoinRealm,
  ListInvitations,
  RequestSignUp,
  ResendInvitation,
  RevokeInvitation,
  SendInvitationLetters,
  SendWelcomeLetters,
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
  letterQuota,
  mailer,
  passwordHasher,
  passwordStrength,
  realmUrls,
  signUpKeys,
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
    JoinRealm,
    unitOfWork,
    signUpKeys,
    passwordHasher,
    passwordStrength,
    disposableDomains,
    apiKeyMint,
    SystemMessages,
    clock,
    invitationConfig,
  );
  provide(bind, GetSignUp, unitOfWork, signUpKeys, clock, invitationConfig);
  provide(bind, RequestSignUp, unitOfWork, signUpKeys, letterQuota, disposableDomains, clock, invitationConfig);
  provide(bind, JoinOrConfirm, JoinRealm, RequestSignUp);
  provide(bind, TestWelcomeMessage, unitOfWork, SystemMessages);
  provide(bind, SendInvitationLetters, mailer, unitOfWork, invitationKeys, realmUrls, clock);
  provideAs(bind, LISTS.jobHandler, SendInvitationLetters);
  provide(bind, SendWelcomeLetters, mailer, unitOfWork, realmUrls);
  provideAs(bind, LISTS.jobHandler, SendWelcomeLetters);
  provide(bind, ForgetInvitations);
  provideAs(bind, LISTS.jobHandler, ForgetInvitations);
});
