import {
  ChangeSettings,
  CreateUser,
  GetOwnUser,
  GetUser,
  GrantPermission,
  ListUsers,
  NoticeBoard,
  RegisterUser,
} from '@parley/domain';
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
  realmAddresses,
  clock,
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
    NoticeBoard,
    clock,
  );
  provide(bind, ChangeSettings, unitOfWork, passwordHasher, passwordStrength, loginAttempts, disposableDomains);
  provide(bind, RegisterUser, unitOfWork, passwordHasher, apiKeyMint, clock);
  provide(bind, GrantPermission, unitOfWork);
  provide(bind, GetOwnUser, unitOfWork);
  provide(bind, GetUser, unitOfWork, realmAddresses);
  provide(bind, ListUsers, unitOfWork);
});
