/** Whether anybody may be anybody, as on a developer's own machine. */
export interface DevelopmentMode {
  readonly isOn: boolean;
}
