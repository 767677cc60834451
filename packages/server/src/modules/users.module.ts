import { CreateUser, RegisterUser, UpdateUser } from '@parley/domain/accounts';
import { MarkdownTextRenderer, SystemMessages } from '@parley/domain/messages';
import {
  AddProfileField,
  ChangeOwnProfile,
  ChangeSettings,
  ClearOwnProfile,
  GetOwnUser,
  GetUser,
  GrantSpecialPermission,
  ListProfileFields,
  ListUsers,
  OrderProfileFields,
  ProfileValues,
  RemoveProfileField,
  SwitchDisplay,
  UpdateProfileField,
} from '@parley/domain/users';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const {
  unitOfWork,
  passwordHasher,
  passwordStrength,
  loginAttempts,
  disposableDomains,
  apiKeyMint,
  realmUrls,
  clock,
  presencePolicy,
  letterQuota,
} = TOKENS;

export const usersModule = new ContainerModule(({ bind }) => {
  provide(
    bind,
    CreateUser,
    unitOfWork,
    passwordHasher,
    passwordStrength,
    disposableDomains,
    apiKeyMint,
    SystemMessages,
    clock,
  );
  provide(
    bind,
    ChangeSettings,
    unitOfWork,
    passwordHasher,
    passwordStrength,
    loginAttempts,
    letterQuota,
    disposableDomains,
    clock,
    presencePolicy,
  );
  provide(bind, RegisterUser, unitOfWork, passwordHasher, passwordStrength, apiKeyMint, clock);
  provide(bind, ProfileValues, unitOfWork, MarkdownTextRenderer);
  provide(bind, UpdateUser, unitOfWork, realmUrls, disposableDomains, clock, ProfileValues);
  provide(bind, ListProfileFields, unitOfWork);
  provide(bind, AddProfileField, unitOfWork);
  provide(bind, UpdateProfileField, unitOfWork);
  provide(bind, RemoveProfileField, unitOfWork);
  provide(bind, OrderProfileFields, unitOfWork);
  provide(bind, ChangeOwnProfile, unitOfWork, ProfileValues);
  provide(bind, ClearOwnProfile, unitOfWork);
  provide(bind, GrantSpecialPermission, unitOfWork);
  provide(bind, SwitchDisplay, unitOfWork, clock, presencePolicy);
  provide(bind, GetOwnUser, unitOfWork);
  provide(bind, GetUser, unitOfWork, realmUrls);
  provide(bind, ListUsers, unitOfWork);
});
