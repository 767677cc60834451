import { Component, type ReactNode } from 'react';

interface BoundaryProps {
  readonly text: string;
  readonly children: ReactNode;
}

/** Shows a line instead of a part that throws; the rest of the page keeps working. */
export class ErrorBoundary extends Component<BoundaryProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    return this.state.hasFailed ? <p role="alert">{this.props.text}</p> : this.props.children;
  }
}
