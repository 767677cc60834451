import { ChangeAlertWords, ListAlertWords } from '@parley/domain/alert-words';
import { ChangeDraft, CreateDrafts, DeleteDraft, ListDrafts } from '@parley/domain/drafts';
import { MuteUser, UnmuteUser } from '@parley/domain/muted-users';
import {
  ChangeNavigationView,
  CreateNavigationView,
  DeleteNavigationView,
  ListNavigationViews,
} from '@parley/domain/navigation-views';
import { CompleteOnboardingStep } from '@parley/domain/onboarding';
import { ChangeSnippet, CreateSnippet, DeleteSnippet, ListSnippets } from '@parley/domain/snippets';
import { ContainerModule } from 'inversify';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

const { unitOfWork, clock } = TOKENS;

/** What people keep for themselves. */
export const personalListsModule = new ContainerModule(({ bind }) => {
  provide(bind, ListDrafts, unitOfWork);
  provide(bind, CreateDrafts, unitOfWork, clock);
  provide(bind, ChangeDraft, unitOfWork, clock);
  provide(bind, DeleteDraft, unitOfWork);

  provide(bind, ListSnippets, unitOfWork);
  provide(bind, CreateSnippet, unitOfWork, clock);
  provide(bind, ChangeSnippet, unitOfWork);
  provide(bind, DeleteSnippet, unitOfWork);

  provide(bind, ListNavigationViews, unitOfWork);
  provide(bind, CreateNavigationView, unitOfWork);
  provide(bind, ChangeNavigationView, unitOfWork);
  provide(bind, DeleteNavigationView, unitOfWork);

  provide(bind, CompleteOnboardingStep, unitOfWork);

  provide(bind, MuteUser, unitOfWork, clock);
  provide(bind, UnmuteUser, unitOfWork);

  provide(bind, ListAlertWords, unitOfWork);
  provide(bind, ChangeAlertWords, unitOfWork);
});
