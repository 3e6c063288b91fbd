// What makes the forms of the desk quicker. Everything works without it.

/** Asks before what cannot be undone easily. */
addEventListener('submit', (event) => {
  const question = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});
