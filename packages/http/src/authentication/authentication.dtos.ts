import { TextParam } from '../routing/params.js';

export class FetchApiKeyDto {
  @TextParam() username!: string;
  @TextParam() password!: string;
}

export class FetchDevelopmentApiKeyDto {
  @TextParam() username!: string;
}
