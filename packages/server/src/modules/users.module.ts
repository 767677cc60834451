import { SystemMessages } from '@parley/domain/messages';
import {
  ChangeSettings,
  CreateUser,
  GetOwnUser,
  GetUser,
  GrantSpecialPermission,
  ListUsers,
  RegisterUser,
  SwitchDisplay,
  UpdateUser,
} from '@parley/domain/users';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, passwordHasher, passwordStrength, loginAttempts, disposableDomains, apiKeyMint, realmUrls, clock } =
  TOKENS;

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
  provide(bind, ChangeSettings, unitOfWork, passwordHasher, passwordStrength, loginAttempts, disposableDomains, clock);
  provide(bind, RegisterUser, unitOfWork, passwordHasher, apiKeyMint, clock);
  provide(bind, UpdateUser, unitOfWork, realmUrls, disposableDomains, clock);
  provide(bind, GrantSpecialPermission, unitOfWork);
  provide(bind, SwitchDisplay, unitOfWork, clock);
  provide(bind, GetOwnUser, unitOfWork);
  provide(bind, GetUser, unitOfWork, realmUrls);
  provide(bind, ListUsers, unitOfWork);
});
