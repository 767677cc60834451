import {
  ChangeNavigationView,
  CreateNavigationView,
  DeleteNavigationView,
  ListNavigationViews,
} from '@parley/domain/navigation-views';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork } = TOKENS;

export const navigationViewsModule = new ContainerModule(({ bind }) => {
  provide(bind, ListNavigationViews, unitOfWork);
  provide(bind, CreateNavigationView, unitOfWork);
  provide(bind, ChangeNavigationView, unitOfWork);
  provide(bind, DeleteNavigationView, unitOfWork);
});
