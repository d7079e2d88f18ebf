package dashboard

// ForgetSurvey makes the next page go over all keys again.
func ForgetSurvey(d *Dashboard) {
	d.survey.mu.Lock()
	defer d.survey.mu.Unlock()
	d.survey.found = nil
}
