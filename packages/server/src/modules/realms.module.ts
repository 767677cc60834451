import { MarkdownTextRenderer } from '@parley/domain/messages';
import {
  ChangeRealm,
  ChangeUserDefaults,
  CheckStringId,
  ConfigureRealm,
  CreateRealm,
  DeactivateRealm,
  GetServerSettings,
  ReactivateRealm,
  RealmChanges,
  SuspendRealm,
} from '@parley/domain/organization';
import {
  AddAllowedDomain,
  AddLinkifier,
  AddPlayground,
  ChangeAllowedDomain,
  ChangeLinkifier,
  CreateCall,
  CreateMeetingLink,
  DeleteRealmData,
  ForgetLimits,
  JoinMeeting,
  ListAllowedDomains,
  ListLinkifiers,
  RemoveAllowedDomain,
  RemoveLinkifier,
  RemovePlayground,
  ReorderLinkifiers,
} from '@parley/domain/realms';
import { ContainerModule } from 'inversify';
import { provide, provideAs } from '../provide.js';
import { LISTS, TOKENS } from '../tokens.js';

const {
  unitOfWork,
  clock,
  randomness,
  realmUrls,
  developmentMode,
  serverChannelConfig,
  serverAddress,
  linkifierSyntax,
  meetingLinks,
  meetingServer,
} = TOKENS;

export const realmsModule = new ContainerModule(({ bind }) => {
  provide(bind, RealmChanges, MarkdownTextRenderer, clock, developmentMode, meetingServer);
  provide(bind, ChangeRealm, unitOfWork, RealmChanges);
  provide(bind, ChangeUserDefaults, unitOfWork);
  provide(bind, ListAllowedDomains, unitOfWork);
  provide(bind, AddAllowedDomain, unitOfWork);
  provide(bind, ChangeAllowedDomain, unitOfWork);
  provide(bind, RemoveAllowedDomain, unitOfWork);
  provide(bind, ListLinkifiers, unitOfWork);
  provide(bind, AddLinkifier, unitOfWork, linkifierSyntax);
  provide(bind, ChangeLinkifier, unitOfWork, linkifierSyntax);
  provide(bind, RemoveLinkifier, unitOfWork);
  provide(bind, ReorderLinkifiers, unitOfWork);
  provide(bind, AddPlayground, unitOfWork, linkifierSyntax);
  provide(bind, RemovePlayground, unitOfWork);
  provide(bind, DeactivateRealm, unitOfWork, clock);
  provide(bind, DeleteRealmData, unitOfWork, clock);
  provideAs(bind, LISTS.jobHandler, DeleteRealmData);
  provide(bind, ReactivateRealm, unitOfWork);
  provide(bind, SuspendRealm, unitOfWork);
  provide(bind, ConfigureRealm, unitOfWork, RealmChanges);
  provide(bind, ForgetLimits, unitOfWork);
  provide(bind, CheckStringId, unitOfWork);
  provide(bind, CreateCall, unitOfWork);
  provide(bind, CreateMeetingLink, unitOfWork, meetingLinks, randomness);
  provide(bind, JoinMeeting, unitOfWork, meetingLinks, meetingServer);
  provide(bind, CreateRealm, unitOfWork, clock, randomness, serverAddress);
  provide(bind, GetServerSettings, unitOfWork, realmUrls, developmentMode, serverChannelConfig);
});
